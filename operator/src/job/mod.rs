//! A Job's reconcile.
