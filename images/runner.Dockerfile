# The image of the runner: one static program in an otherwise empty image.
# README.md beside this file says how to build it.
ARG RUST=1.95.0
FROM rust:${RUST}-slim-bookworm AS build
ARG RUST
# The toolchain that the image brings, without the formatter and the linter that rust-toolchain.toml asks for.
ENV RUSTUP_TOOLCHAIN=${RUST}
# The image brings the C compiler that QuickJS and ring need.
WORKDIR /source
COPY . .
# .cargo/config.toml makes the program static; its folder is named after the machine's triple.
RUN cargo build --release --locked --package anchorhold-runner --bins \
 && install -D target/*-linux-gnu/release/anchorhold-runner /image/anchorhold-runner

FROM scratch
COPY --from=build /image/ /
# A number, as the image has no user database, and as the pods of the chart and of jobs say it.
USER 65532:65532
WORKDIR /
ENTRYPOINT ["/anchorhold-runner"]
