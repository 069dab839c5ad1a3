// The same in the sandbox and in Node.js: what the globals do that scripts expect of JavaScript.
async function main() {
  const results = {};
  const check = async (name, compute) => {
    try {
      results[name] = await compute();
    } catch (error) {
      results[name] = `throws ${error.name}`;
    }
  };
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");

  const MEMBERS = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
  const URLS = [
    ["http://user:pa ss@EXAMPLE.com:80/a/../b/./c%2e%2E/d?x=1 2&y='#frag ment"], ["https://example.com"],
    ["../x?y#z", "https://a.b/c/d/e?q"], ["//h.o/p", "http://a/b"], ["?q", "http://a/b?c#d"], ["#f", "http://a/b?c"],
    ["", "http://a/b?c#d"], ["mailto:a@b.c?x=y#z"], ["data:text/plain,hello world"], ["javascript:alert(1)"],
    ["foo://host/path/../x"], ["foo://Host:81/x"], ["http://[::1]:3000/a"], ["http://[2001:db8:0:0:1:0:0:1]/"],
    ["http://[1:2:3:4:5:6:7:8]"], ["http://[::ffff:1.2.3.4]/"], ["http://[::]/"], ["http://[1:2]/"], ["http://[g::]/"],
    ["http://0x7f.1/"], ["http://256.1.1.1"], ["http://192.168.0.1."], ["http://1.2.3.4.5"], ["http://a b/"],
    ["http://"], ["nope"], ["http://a:99999/"], ["http://a:0443/"], ["https://a:443/"], ["file:///etc/passwd"],
    ["file://localhost/x"], ["http:foo", "http://a/b/c"], ["http:\\\\a\\b\\c"], ["/x\\y", "http://a/b"],
    ["  http://a/\tb\n "], ["http://ex%41mple.com/"], ["wss://a/ü?ü#ü"], ["http://a/?%zz&a=b+c"], ["http://a@b@c/"],
    ["http://:80/"], ["http://a/b|c`e{f}"], ["ftp://u:p@h:21/x;y=1"], ["foo:/a/b"], ["foo:a/b?c#d"], ["foo:////a"],
    ["http://a/b/.."], ["http://a/b/%2e%2e/c"], ["urn:x y"], ["x", "mailto:a"], ["#x", "mailto:a"], [undefined],
    ["https://a/?a=%F0%9F%98%80&b=%FF"], ["http://a/😀?😀#😀"], ["HTTP://A.B"], ["http://a//b///c"], ["http://a/b?"], ["http://a/#"],
  ];
  for (const [input, base] of URLS) {
    await check(`URL ${input} ${base}`, () => {
      const url = base === undefined ? new URL(input) : new URL(input, base);
      return [...MEMBERS.map((name) => url[name]), [...url.searchParams], `${url.searchParams}`, JSON.stringify(url)];
    });
    await check(`URL.canParse ${input} ${base}`, () => URL.canParse(input, base));
  }
  const CHANGES = [
    ["protocol", "https"], ["protocol", "foo"], ["host", "x.y:81"], ["host", "x.y"], ["hostname", "Z"], ["hostname", "a b"],
    ["port", "8080"], ["port", "80"], ["port", "x"], ["port", ""], ["pathname", "q/../r s"], ["search", "?a=b c"],
    ["search", ""], ["hash", "#h h"], ["hash", ""], ["username", "u@"], ["password", "p:"], ["href", "https://other/"],
    ["href", "no"],
  ];
  for (const [member, value] of CHANGES) {
    await check(`URL.${member} = ${value}`, () => {
      const url = new URL("http://me:pw@host:99/p?q=1#f");
      url[member] = value;
      return [url.href, `${url.searchParams}`];
    });
  }
  await check("searchParams change the URL", () => {
    const url = new URL("http://a/?a=1&b=2");
    url.searchParams.append("c", "é &");
    url.searchParams.delete("a");
    url.searchParams.set("b", "x");
    url.searchParams.sort();
    return [url.href, url.search];
  });
  await check("URLSearchParams", () => {
    const params = new URLSearchParams("?a=b&a=c&d&=e&%20=+%2B&f=%zz");
    const seen = [];
    params.forEach((value, name) => seen.push([name, value]));
    return [
      `${params}`, seen, params.getAll("a"), params.get("none"), params.has("a", "c"), params.has("a", "x"), params.size,
      [...params.keys()], [...params.values()], `${new URLSearchParams({ a: 1, b: "~*" })}`,
      `${new URLSearchParams([["a", "b"], ["~", "!'()*"]])}`, `${new URLSearchParams(params)}`,
    ];
  });
  await check("URLSearchParams of wrong pairs", () => `${new URLSearchParams([["a"]])}`);

  const encoder = new TextEncoder();
  for (const text of ["", "abc", "é", "€", "😀", "\ud800", "a\udc00b", "a\u0000b", "\ufeffx"]) {
    await check(`encode ${JSON.stringify(text)}`, () => hex(encoder.encode(text)));
    await check(`encodeInto ${JSON.stringify(text)}`, () => encoder.encodeInto(text, new Uint8Array(3)));
  }
  await check("encode()", () => [encoder.encode().length, encoder.encoding, hex(encoder.encode(7))]);
  const BYTES = [
    [], [0x41], [0xc3, 0x28], [0xe2, 0x82], [0xf0, 0x9f, 0x98, 0x80], [0xff, 0x41], [0xed, 0xa0, 0x80], [0xef, 0xbb, 0xbf, 0x41],
    [0xf0, 0x80, 0x80, 0x41], [0xe2, 0x82, 0xac, 0xe2], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80], [0xe0, 0x80, 0xaf], [0x80],
    [0xf0, 0x9f, 0x41], [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf],
  ];
  for (const bytes of BYTES) {
    for (const options of [{}, { fatal: true }, { ignoreBOM: true }]) {
      await check(`decode ${bytes} ${JSON.stringify(options)}`, () => {
        const decoder = new TextDecoder("utf8", options);
        return [decoder.decode(new Uint8Array(bytes)), decoder.decode(new Uint8Array([0x42])), decoder.encoding, decoder.fatal];
      });
    }
    await check(`decode ${bytes}, byte by byte`, () => {
      const decoder = new TextDecoder();
      return bytes.map((byte) => decoder.decode(new Uint8Array([byte]), { stream: true })).join("") + decoder.decode();
    });
  }
  await check("decode of views", () => {
    const { buffer } = encoder.encode("abcdef");
    const decoder = new TextDecoder();
    return [decoder.decode(buffer), decoder.decode(new Uint8Array(buffer, 2, 2)), decoder.decode(new DataView(buffer, 1, 3)), decoder.decode()];
  });
  await check("decode of text", () => new TextDecoder().decode("text"));

  await check("structuredClone", () => {
    const value = {
      list: [1, , new Date(5)], map: new Map([[{ k: 1 }, new Set([2])]]), regex: /x/gi, big: 1n, none: undefined, nil: null,
      words: new Uint16Array([1, 2]), view: new DataView(new ArrayBuffer(3), 1), error: new TypeError("t", { cause: [1] }),
      boxed: [Object(1), Object("s"), Object(true), Object(2n)], "é": { deep: { er: 1 } },
    };
    value.self = value;
    value.again = value.list;
    const copy = structuredClone(value);
    return [
      copy !== value, copy.self === copy, copy.again === copy.list, copy.list.length, 1 in copy.list, copy.list[2].getTime(),
      [...copy.map.keys()][0].k, [...[...copy.map.values()][0]], `${copy.regex}`, `${copy.big}`, "none" in copy, copy.nil,
      [...copy.words], copy.view.byteLength, copy.error instanceof TypeError, copy.error.message, copy.error.cause,
      copy.boxed.map((box) => typeof box + box), copy["é"].deep.er, Object.keys(copy),
    ];
  });
  class Own {
    field = 1;
  }
  await check("structuredClone of an instance", () => [structuredClone(new Own()) instanceof Own, structuredClone(new Own())]);
  for (const [name, value] of Object.entries({ f: () => 1, s: Symbol("s"), p: Promise.resolve(), w: new WeakMap(), deep: { a: [() => 1] } })) {
    await check(`structuredClone of ${name}`, () => structuredClone(value));
  }

  for (const text of ["", "hi", "\u00ff\u0000", "é", "€"]) await check(`btoa ${JSON.stringify(text)}`, () => btoa(text));
  for (const text of ["", "aGk=", "aGk", " a G k = ", "a", "a===", "%%"]) await check(`atob ${text}`, () => atob(text));

  await check("crypto", () => {
    const words = new Uint32Array(4);
    return [
      crypto.getRandomValues(words) === words, words.some(Boolean), crypto.getRandomValues(new BigInt64Array(1)).length,
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()),
    ];
  });
  await check("getRandomValues of floats", () => crypto.getRandomValues(new Float32Array(1)));
  await check("getRandomValues of a view", () => crypto.getRandomValues(new DataView(new ArrayBuffer(1))));
  await check("getRandomValues of a list", () => crypto.getRandomValues([1]) && "no");
  await check("getRandomValues of too much", () => crypto.getRandomValues(new Uint8Array(65537)));
  await check("Math.random", () => {
    const drawn = Array.from({ length: 2000 }, Math.random);
    const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
    return [drawn.every((value) => value >= 0 && value < 1), new Set(drawn).size === drawn.length, Math.abs(mean - 0.5) < 0.1];
  });

  await check("timers", async () => {
    const order = [];
    setTimeout((...values) => order.push(values), 1000, "a", 1);
    setTimeout(() => order.push("zero"), 0);
    setTimeout(() => order.push("negative"), -5);
    clearTimeout(setTimeout(() => order.push("cleared"), 0));
    clearTimeout(undefined);
    queueMicrotask(() => order.push("microtask"));
    Promise.resolve().then(() => order.push("reaction"));
    order.push("at once");
    await new Promise((resolve) => setTimeout(resolve, 1200));
    let ticks = 0;
    await new Promise((resolve) => {
      const id = setInterval(() => (++ticks === 3 ? (clearInterval(id), resolve()) : undefined), 1);
    });
    return [order, ticks];
  });
  await check("language", async () => {
    async function* numbers() {
      for (let i = 0; i < 3; i++) yield await i;
    }
    const seen = [];
    for await (const number of numbers()) seen.push(number);
    const { a, ...rest } = { a: 1, b: 2, c: [3] };
    return [
      seen, a, rest, `${2n ** 100n}`, [..."é😀"].length, "a-b".replaceAll("-", "+"), [3, 1, 2].sort(), Object.fromEntries([["k", 1]]),
      [1, [2, [3]]].flat(Infinity), "x".at(-1), null ?? 1, undefined?.x, Number("0x10"), parseInt("12px"), (0.1 + 0.2).toFixed(2),
      new Date(Date.UTC(2024, 1, 29)).toISOString(), [..."a1b2".matchAll(/(?<l>[a-z])(\d)/g)].map((m) => m.groups.l),
      await Promise.allSettled([1, Promise.reject(2)]), await Promise.any([Promise.reject(1), 2]), encodeURIComponent("é/"), typeof globalThis,
    ];
  });
  return results;
}
