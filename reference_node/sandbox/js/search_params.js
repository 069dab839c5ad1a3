// URLSearchParams (WHATWG URL, "URLSearchParams class"), and percent-encoding.
(native) => {
  const utf8 = new TextEncoder();
  const ENCODED = /(?:%[0-9a-f]{2})+/gi;

  // characters that `keep` does not match become the percent-encoded bytes of their UTF-8
  native.percentEncode = (text, keep) => {
    let encoded = "";
    for (const character of text.toWellFormed()) {
      if (keep.test(character)) encoded += character;
      else for (const byte of utf8.encode(character)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    }
    return encoded;
  };

  native.percentDecode = (text) =>
    text.toWellFormed().replace(ENCODED, (codes) => {
      const bytes = codes.slice(1).split("%").map((code) => parseInt(code, 16));
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(bytes));
    });

  const encode = (text) => native.percentEncode(text, /^[A-Za-z0-9*\-._ ]$/).replaceAll(" ", "+");
  const decode = (text) => native.percentDecode(text.replaceAll("+", " "));

  const parse = (text) => {
    const pairs = [];
    for (const part of text.split("&")) {
      if (part === "") continue;
      const at = part.indexOf("=");
      pairs.push(at < 0 ? [decode(part), ""] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]);
    }
    return pairs;
  };

  const pairsOf = (from) => {
    if (typeof from !== "object" || from === null) return parse(`${from}`.replace(/^\?/, ""));
    const pairs = typeof from[Symbol.iterator] === "function" ? [...from] : Object.entries(from);
    return pairs.map((pair) => {
      const [name, value, ...more] = pair;
      if (value === undefined || more.length) throw new TypeError("URLSearchParams takes pairs of a name and a value");
      return [`${name}`, `${value}`];
    });
  };

  class URLSearchParams {
    #pairs;
    #changed = () => {};

    constructor(from = "") {
      this.#pairs = pairsOf(from);
    }
    // the parameters of a URL, which hears of every change
    static of(text, changed) {
      const made = new URLSearchParams(text);
      made.#changed = changed;
      return made;
    }
    static replace(params, text) {
      params.#pairs = parse(text);
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([`${name}`, `${value}`]);
      this.#changed();
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter((pair) => pair[0] !== `${name}` || (value !== undefined && pair[1] !== `${value}`));
      this.#changed();
    }
    get(name) {
      return this.#pairs.find((pair) => pair[0] === `${name}`)?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter((pair) => pair[0] === `${name}`).map((pair) => pair[1]);
    }
    has(name, value) {
      return this.#pairs.some((pair) => pair[0] === `${name}` && (value === undefined || pair[1] === `${value}`));
    }
    set(name, value) {
      const first = this.#pairs.find((pair) => pair[0] === `${name}`);
      if (first === undefined) return this.append(name, value);
      first[1] = `${value}`;
      this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== `${name}`);
      this.#changed();
    }
    sort() {
      this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
      this.#changed();
    }
    forEach(callback, receiver) {
      for (const [name, value] of this) callback.call(receiver, value, name, this);
    }
    *entries() {
      for (let i = 0; i < this.#pairs.length; i++) yield [...this.#pairs[i]];
    }
    *keys() {
      for (const [name] of this.entries()) yield name;
    }
    *values() {
      for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
    }
  }
  native.paramsOf = URLSearchParams.of;
  native.replaceParams = URLSearchParams.replace;
  delete URLSearchParams.of;
  delete URLSearchParams.replace;
  native.define("URLSearchParams", URLSearchParams);
}
