// Random numbers. Every run starts from the same memory, so nothing random may be drawn before the run begins.
(native) => {
  native.define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  const bytes = (count) => {
    const hex = native.entropy(count);
    const drawn = new Uint8Array(count);
    for (let i = 0; i < count; i++) drawn[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
    return drawn;
  };

  // sfc32, seeded by the kernel at the first call of a run
  let state;
  const next = () => {
    state ??= new Uint32Array(bytes(16).buffer);
    const sum = (state[0] + state[1] + state[3]) >>> 0;
    state[3] += 1;
    state[0] = state[1] ^ (state[1] >>> 9);
    state[1] = state[2] + (state[2] << 3);
    state[2] = ((state[2] << 21) | (state[2] >>> 11)) + sum;
    return sum;
  };
  native.define("crypto", {
    getRandomValues(array) {
      if (!ArrayBuffer.isView(array) || /^(Float|DataView)/.test(array.constructor.name)) {
        throw new DOMException("getRandomValues takes an array of integers", "TypeMismatchError");
      }
      if (array.byteLength > 65536) throw new DOMException("at most 65536 bytes at once", "QuotaExceededError");
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes(array.byteLength));
      return array;
    },
    randomUUID() {
      const drawn = bytes(16);
      drawn[6] = (drawn[6] & 0x0f) | 0x40;
      drawn[8] = (drawn[8] & 0x3f) | 0x80;
      let hex = "";
      for (let i = 0; i < 16; i++) hex += drawn[i].toString(16).padStart(2, "0");
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    },
  });
  Object.defineProperty(Math, "random", {
    value: function random() {
      return ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
    },
    writable: true,
    configurable: true,
  });
}
