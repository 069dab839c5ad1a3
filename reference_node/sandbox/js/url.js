// URL (WHATWG URL); without internationalised host names and Windows drive letters.
(native) => {
  const PORTS = new Map(Object.entries({ "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" }));
  const FRAGMENT = /^[!#-;=?-_a-~]$/;
  const QUERY = /^[!$-;=?-~]$/;
  const SPECIAL_QUERY = /^[!$-&(-;=?-~]$/;
  const PATH = /^[!$-;=@-\]_a-z|~]$/;
  const USER = /^[!$-.0-9A-Z_a-z~]$/;
  const OPAQUE = /^[ -~]$/;

  const invalid = (text) => {
    throw new TypeError(`Invalid URL: ${text}`);
  };
  const cut = (text, mark) => {
    const at = text.indexOf(mark);
    return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
  };
  const isSpecial = (url) => PORTS.has(url.protocol);

  const setQuery = (url, text) => {
    url.query = text === null ? null : native.percentEncode(text, isSpecial(url) ? SPECIAL_QUERY : QUERY);
  };

  const setPath = (url, text, before = []) => {
    const path = [...before];
    const segments = (isSpecial(url) ? text.replaceAll("\\", "/") : text).split("/");
    segments.forEach((segment, i) => {
      const last = i === segments.length - 1;
      const dots = segment.replace(/%2e/gi, ".");
      if (dots === "..") path.pop();
      if (dots !== "." && dots !== "..") path.push(native.percentEncode(segment, PATH));
      else if (last) path.push("");
    });
    url.path = path;
  };

  const setPort = (url, text) => {
    if (!/^[0-9]*$/.test(text) || Number(text) > 65535) invalid(`the port ${text}`);
    url.port = text === "" || String(Number(text)) === PORTS.get(url.protocol) ? "" : String(Number(text));
  };

  const setAuthority = (url, text) => {
    const at = text.lastIndexOf("@");
    if (at >= 0) {
      const [name, password] = cut(text.slice(0, at), ":");
      url.username = native.percentEncode(name, USER);
      url.password = native.percentEncode(password ?? "", USER);
    }
    const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text.slice(at + 1)) ?? invalid(text);
    if (host === "" && (at >= 0 || port !== undefined)) invalid(text);
    if (url.protocol === "file:") {
      if (at >= 0 || port !== undefined) invalid(text);
      url.host = host === "" || host.toLowerCase() === "localhost" ? "" : native.parseHost(host, true);
    } else {
      url.host = host === "" && !isSpecial(url) ? "" : native.parseHost(host, isSpecial(url));
    }
    setPort(url, port ?? "");
  };

  const setAuthorityAndPath = (url, text) => {
    const end = text.search(isSpecial(url) ? /[/\\]/ : /\//);
    setAuthority(url, end < 0 ? text : text.slice(0, end));
    if (end >= 0) setPath(url, text.slice(end + 1));
    else url.path = isSpecial(url) ? [""] : [];
  };

  const empty = (protocol) => ({
    protocol, username: "", password: "", host: null, port: "", path: [], opaque: null, query: null, fragment: null,
  });

  const parseAbsolute = (url, rest) => {
    if (isSpecial(url) && url.protocol !== "file:") setAuthorityAndPath(url, rest.replace(/^[/\\]*/, ""));
    else if (/^\/\//.test(rest) || (isSpecial(url) && /^[/\\]{2}/.test(rest))) setAuthorityAndPath(url, rest.slice(2));
    else if (isSpecial(url)) {
      url.host = "";
      setPath(url, rest.replace(/^[/\\]/, ""));
    } else if (rest.startsWith("/")) setPath(url, rest.slice(1));
    else url.opaque = native.percentEncode(rest, OPAQUE);
  };

  const parseRelative = (url, base, rest, query) => {
    const slash = isSpecial(base) ? /^[/\\]/ : /^\//;
    if (slash.test(rest) && slash.test(rest.slice(1))) return parseAbsolute(url, rest);
    for (const part of ["username", "password", "host", "port"]) url[part] = base[part];
    if (slash.test(rest)) setPath(url, rest.slice(1));
    else if (rest !== "") setPath(url, rest, base.path.slice(0, -1));
    else {
      url.path = [...base.path];
      if (query === null) url.query = base.query;
    }
  };

  const parse = (input, base) => {
    const trimmed = input.replace(/^[\u0000- ]+|[\u0000- ]+$/g, "").replace(/[\t\n\r]/g, "");
    const [text, fragment] = cut(trimmed, "#");
    const scheme = /^([a-z][a-z0-9+.-]*:)(.*)$/is.exec(text);
    const protocol = scheme?.[1].toLowerCase();
    const relative = !scheme || (base?.protocol === protocol && PORTS.has(protocol) && !/^[/\\]/.test(scheme[2]));
    if (relative && !base) invalid(input);
    const url = empty(relative ? base.protocol : protocol);
    const [rest, query] = cut(scheme ? scheme[2] : text, "?");
    setQuery(url, query);
    if (!relative) parseAbsolute(url, rest);
    else if (base.opaque === null) parseRelative(url, base, rest, query);
    else if (rest === "" && query === null && fragment !== null) Object.assign(url, base);
    else invalid(input);
    url.fragment = fragment === null ? null : native.percentEncode(fragment, FRAGMENT);
    return url;
  };

  const origin = (url) => `${url.protocol}//${url.host}${url.port && `:${url.port}`}`;

  class URL {
    #url;
    #params;

    constructor(input, base) {
      this.#url = parse(`${input}`, base === undefined ? undefined : parse(`${base}`));
      this.#params = native.paramsOf(this.#url.query ?? "", () => {
        setQuery(this.#url, `${this.#params}` || null);
      });
    }
    static canParse(input, base) {
      return URL.parse(input, base) !== null;
    }
    static parse(input, base) {
      try {
        return new URL(input, base);
      } catch {
        return null;
      }
    }
    // change a copy; what can't be is left as it was
    #change(alter) {
      const changed = { ...this.#url };
      try {
        alter(changed);
      } catch {
        return;
      }
      this.#url = changed;
    }
    get href() {
      const { protocol, username, password, host, port, path, query, fragment } = this.#url;
      const credentials = username || password ? `${username}${password && `:${password}`}@` : "";
      const before = host === null ? (path.length > 1 && path[0] === "" ? "/." : "") : `//${credentials}${host}`;
      const after = `${query === null ? "" : `?${query}`}${fragment === null ? "" : `#${fragment}`}`;
      return `${protocol}${before}${port && `:${port}`}${this.pathname}${after}`;
    }
    set href(text) {
      this.#url = parse(`${text}`);
      native.replaceParams(this.#params, this.#url.query ?? "");
    }
    get origin() {
      return isSpecial(this.#url) && this.#url.protocol !== "file:" ? origin(this.#url) : "null";
    }
    get protocol() {
      return this.#url.protocol;
    }
    set protocol(text) {
      const [, name] = /^([a-z][a-z0-9+.-]*)(?::|$)/i.exec(`${text}`) ?? [];
      const protocol = `${name}:`.toLowerCase();
      if (name === undefined || PORTS.has(protocol) !== isSpecial(this.#url)) return;
      this.#change((url) => {
        url.protocol = protocol;
        setPort(url, url.port);
      });
    }
    get username() {
      return this.#url.username;
    }
    set username(text) {
      if (this.#url.host) this.#url.username = native.percentEncode(`${text}`, USER);
    }
    get password() {
      return this.#url.password;
    }
    set password(text) {
      if (this.#url.host) this.#url.password = native.percentEncode(`${text}`, USER);
    }
    get host() {
      return `${this.hostname}${this.port && `:${this.port}`}`;
    }
    set host(text) {
      if (this.#url.opaque !== null) return;
      this.#change((url) => {
        const [, host, port] = /^(\[[^\]]*\]|[^:/?#\\]*)(?::([0-9]*))?/.exec(`${text}`);
        url.host = native.parseHost(host, isSpecial(url));
        if (port) setPort(url, port);
      });
    }
    get hostname() {
      return this.#url.host ?? "";
    }
    set hostname(text) {
      if (this.#url.opaque !== null) return;
      this.#change((url) => {
        url.host = native.parseHost(/^(\[[^\]]*\]|[^:/?#\\]*)/.exec(`${text}`)[0], isSpecial(url));
      });
    }
    get port() {
      return this.#url.port;
    }
    set port(text) {
      const digits = /^[0-9]*/.exec(`${text}`)[0];
      if (this.#url.host && (digits || `${text}` === "")) this.#change((url) => setPort(url, digits));
    }
    get pathname() {
      return this.#url.opaque ?? this.#url.path.map((segment) => `/${segment}`).join("");
    }
    set pathname(text) {
      if (this.#url.opaque === null) this.#change((url) => setPath(url, `${text}`.replace(/^[/\\]/, "")));
    }
    get search() {
      return this.#url.query ? `?${this.#url.query}` : "";
    }
    set search(text) {
      setQuery(this.#url, `${text}` === "" ? null : `${text}`.replace(/^\?/, ""));
      native.replaceParams(this.#params, this.#url.query ?? "");
    }
    get searchParams() {
      return this.#params;
    }
    get hash() {
      return this.#url.fragment ? `#${this.#url.fragment}` : "";
    }
    set hash(text) {
      this.#url.fragment = `${text}` === "" ? null : native.percentEncode(`${text}`.replace(/^#/, ""), FRAGMENT);
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
  }
  native.define("URL", URL);
}
