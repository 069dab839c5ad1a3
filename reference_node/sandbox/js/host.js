// Hosts of URLs (WHATWG URL, "Host parsing"); no internationalised names.
(native) => {
  const FORBIDDEN = /[\u0000\t\n\r #/:<>?@[\\\]^|]/;

  const invalid = (what) => {
    throw new TypeError(`Invalid URL: ${what}`);
  };

  const number = (text) => {
    if (text === "") return NaN;
    if (/^0x[0-9a-f]*$/i.test(text)) return text.length === 2 ? 0 : parseInt(text, 16);
    if (/^0[0-7]*$/.test(text)) return parseInt(text, 8);
    return /^[0-9]+$/.test(text) ? parseInt(text, 10) : NaN;
  };

  const ipv4 = (name) => {
    const parts = name.replace(/\.$/, "").split(".");
    const numbers = parts.map(number);
    const last = numbers.pop();
    const whole = numbers.every((part) => part <= 255) && last < 256 ** (4 - numbers.length);
    if (parts.length > 4 || !whole) invalid(`the address ${name}`);
    let address = last;
    numbers.forEach((part, i) => (address += part * 256 ** (3 - i)));
    return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
  };

  const pieces = (text) =>
    text === ""
      ? []
      : text.split(":").flatMap((piece, i, all) => {
          if (i === all.length - 1 && /^(\d{1,3})(\.\d{1,3}){3}$/.test(piece)) {
            const bytes = piece.split(".").map(Number);
            if (bytes.some((byte) => byte > 255)) invalid("the address in brackets");
            return [bytes[0] * 256 + bytes[1], bytes[2] * 256 + bytes[3]];
          }
          return /^[0-9a-f]{1,4}$/i.test(piece) ? [parseInt(piece, 16)] : invalid("the address in brackets");
        });

  const ipv6 = (text) => {
    const halves = text.split("::");
    if (halves.length > 2) invalid("the address in brackets");
    const [head, tail] = halves.map(pieces);
    const missing = 8 - head.length - (tail?.length ?? 0);
    if (tail === undefined ? missing !== 0 : missing < 1) invalid("the address in brackets");
    const all = tail === undefined ? head : [...head, ...new Array(missing).fill(0), ...tail];
    const hex = all.map((piece) => piece.toString(16)).join(":");
    const zeros = hex.match(/\b0(:0)+\b/g)?.reduce((one, other) => (other.length > one.length ? other : one));
    return zeros === undefined ? hex : hex.replace(new RegExp(`(^|:)${zeros}(:|$)`), "::");
  };

  native.parseHost = (text, special) => {
    if (text.startsWith("[")) return text.endsWith("]") ? `[${ipv6(text.slice(1, -1))}]` : invalid("brackets");
    if (!special) {
      if (FORBIDDEN.test(text)) invalid(`the host ${text}`);
      return native.percentEncode(text, /^[ -~]$/);
    }
    const name = native.percentDecode(text).toLowerCase();
    if (name === "" || FORBIDDEN.test(name) || /[\u0000-\u001f%\u007f]/.test(name)) invalid(`the host ${text}`);
    if (/[^\u0000-\u007f]/.test(name)) invalid(`the host ${text}: write it in ASCII (xn--…)`);
    const last = name.replace(/\.$/, "").split(".").pop();
    return /^[0-9]+$/.test(last) || /^0x[0-9a-f]*$/.test(last) ? ipv4(name) : name;
  };
}
