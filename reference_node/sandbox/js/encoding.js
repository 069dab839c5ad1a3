// TextEncoder and TextDecoder, for UTF-8 alone.
(native) => {
  const { fromCodePoint } = String;

  // the bytes of a code point, written into an array at a position; how many there are
  const write = (point, bytes, at) => {
    if (point < 0x80) {
      bytes[at] = point;
      return 1;
    }
    const size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (let i = size - 1; i > 0; i--) {
      bytes[at + i] = 0x80 | (point & 0x3f);
      point >>= 6;
    }
    bytes[at] = ((0xf0 << (4 - size)) & 0xff) | point;
    return size;
  };
  const sizeOf = (point) => (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4);

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      text = `${text}`.toWellFormed();
      let size = 0;
      for (const character of text) size += sizeOf(character.codePointAt(0));
      const bytes = new Uint8Array(size);
      let written = 0;
      for (const character of text) written += write(character.codePointAt(0), bytes, written);
      return bytes;
    }
    encodeInto(text, bytes) {
      let read = 0;
      let written = 0;
      for (const character of `${text}`.toWellFormed()) {
        const point = character.codePointAt(0);
        if (written + sizeOf(point) > bytes.length) break;
        written += write(point, bytes, written);
        read += character.length;
      }
      return { read, written };
    }
  }

  const bytesOf = (data) => {
    if (data === undefined) return new Uint8Array(0);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) return new Uint8Array(data);
    throw new TypeError("decode takes an ArrayBuffer or a view of one");
  };

  const LABELS = new Set(["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"]);

  // the first byte of a sequence: how many more belong to it, and the bounds of the next one
  const begin = (byte) => {
    if (byte < 0x80) return { more: 0, point: byte };
    if (byte < 0xc2 || byte > 0xf4) return undefined;
    if (byte < 0xe0) return { more: 1, point: byte & 0x1f, low: 0x80, high: 0xbf };
    if (byte < 0xf0) {
      return { more: 2, point: byte & 0x0f, low: byte === 0xe0 ? 0xa0 : 0x80, high: byte === 0xed ? 0x9f : 0xbf };
    }
    return { more: 3, point: byte & 0x07, low: byte === 0xf0 ? 0x90 : 0x80, high: byte === 0xf4 ? 0x8f : 0xbf };
  };

  class TextDecoder {
    #open; // a sequence that has begun
    #started = false;
    #text = "";

    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      if (!LABELS.has(`${label}`.trim().toLowerCase())) throw new RangeError(`no decoder for ${label}: UTF-8 alone`);
      this.encoding = "utf-8";
      this.fatal = Boolean(fatal);
      this.ignoreBOM = Boolean(ignoreBOM);
    }
    decode(data, { stream = false } = {}) {
      this.#text = "";
      for (const byte of bytesOf(data)) this.#take(byte);
      if (!stream) {
        if (this.#open !== undefined) this.#broken();
        this.#open = undefined;
        this.#started = false;
      }
      return this.#text;
    }
    #take(byte) {
      if (this.#open !== undefined) {
        const { more, point, low, high } = this.#open;
        this.#open = undefined;
        if (byte >= low && byte <= high) {
          this.#advance({ more: more - 1, point: (point << 6) | (byte & 0x3f), low: 0x80, high: 0xbf });
          return;
        }
        this.#broken();
      }
      const begun = begin(byte);
      if (begun === undefined) this.#broken();
      else this.#advance(begun);
    }
    #advance(sequence) {
      if (sequence.more > 0) this.#open = sequence;
      else this.#put(sequence.point);
    }
    #put(point) {
      if (this.#started || this.ignoreBOM || point !== 0xfeff) this.#text += fromCodePoint(point);
      this.#started = true;
    }
    #broken() {
      if (this.fatal) {
        this.#open = undefined;
        this.#started = false;
        throw new TypeError("the bytes are no UTF-8");
      }
      this.#put(0xfffd);
    }
  }
  native.define("TextEncoder", TextEncoder);
  native.define("TextDecoder", TextDecoder);
}
