// The script's globals, built inside the engine before the script is read. The script may change its own realm as it
// likes (`Array.prototype.map = …`); nothing here may depend on it afterwards, so every built-in that is used later is
// taken now, and no code below uses an iterator, a spread of an array, or a method of a prototype once the script runs.
// The files of this folder are one text: this one opens the function, globals.js closes it.
(function (host, setup) {
  'use strict';
  const { apply, defineProperty, ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const bind = Function.prototype.bind;
  const uncurry = (method) => (self, a, b) => apply(method, self, [a, b]);
  const RealError = Error, RealTypeError = TypeError, RealPromise = Promise, RealMap = Map;
  const RealProxy = Proxy, RealRegExp = RegExp, RealString = String, RealNumber = Number;
  const { isArray } = Array;
  const { parse, stringify } = JSON;
  const { is, hasOwn, keys: objectKeys } = Object;
  const { now } = Date;
  const isErrorObject = Error.isError;
  const isView = ArrayBuffer.isView;
  const floor = Math.floor, trunc = Math.trunc;
  const slice = uncurry(String.prototype.slice), indexOf = uncurry(String.prototype.indexOf);
  const startsWith = uncurry(String.prototype.startsWith), padEnd = uncurry(String.prototype.padEnd);
  const repeat = uncurry(String.prototype.repeat), replaceAll = uncurry(String.prototype.replaceAll);
  const split = uncurry(String.prototype.split), toWellFormed = uncurry(String.prototype.toWellFormed);
  const join = uncurry(Array.prototype.join);
  const functionText = uncurry(Function.prototype.toString), regexpText = uncurry(RegExp.prototype.toString);
  const symbolText = uncurry(Symbol.prototype.toString), toIso = uncurry(Date.prototype.toISOString);
  const dateValue = uncurry(Date.prototype.getTime), bigintText = uncurry(BigInt.prototype.toString);
  const mapForEach = uncurry(Map.prototype.forEach), setForEach = uncurry(Set.prototype.forEach);
  const mapGet = uncurry(Map.prototype.get), mapSet = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete);
  const sizeOf = (prototype) => uncurry(getOwnPropertyDescriptor(prototype, 'size').get);
  const mapSize = sizeOf(Map.prototype), setSize = sizeOf(Set.prototype);
  const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
  const typedArrayTag = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag).get);
  const typedArrayLength = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, 'length').get);
  const bufferLength = uncurry(getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength').get);
  const { toPrimitive, toStringTag } = Symbol;
  const objectPrototype = Object.prototype;
  const push = (list, value) => defineProperty(list, list.length, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  const bare = () => ({ __proto__: null });
  const attempt = (action, fallback) => { try { return action(); } catch { return fallback; } };
  // A bound function prints as native code: String(text) shows none of this file.
  const native = (name, action) => {
    const bound = apply(bind, action, [undefined]);
    defineProperty(bound, 'name', { __proto__: null, value: name, configurable: true });
    return bound;
  };
  const hide = (name, value) =>
    defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

