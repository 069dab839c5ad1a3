// Serves the page, and gives its wallet gas: what an application's own server does for its customers. The test control, which
// has the gas on a reference node, is for no page.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const node = process.env.NODE_URL ?? "http://127.0.0.1:8000";
const port = Number(process.env.PORT ?? 5173);
const FILES = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/page.js": ["page.js", "text/javascript"],
  "/ethers.js": ["node_modules/ethers/dist/ethers.min.js", "text/javascript"],
};

async function gas(address) {
  const body = JSON.stringify({ address, wei: 10 ** 17 });
  const answer = await fetch(`${node}/control/fund`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  return { status: answer.status, type: "application/json", body: await answer.text() };
}

async function answer({ method, url }) {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  if (method === "POST" && pathname === "/gas") return await gas(searchParams.get("address"));
  if (pathname === "/node.json") return { status: 200, type: "application/json", body: JSON.stringify(node) };
  if (!Object.hasOwn(FILES, pathname)) return { status: 404, type: "text/plain", body: `nothing at ${pathname}\n` };
  const [file, type] = FILES[pathname];
  return { status: 200, type, body: await readFile(new URL(file, import.meta.url)) };
}

createServer(async (request, response) => {
  const { status, type, body } = await answer(request).catch((fault) => ({
    status: 500, type: "text/plain", body: `${fault.message}: ${fault.cause?.message ?? "is ethers installed? npm ci"}\n`,
  }));
  response.writeHead(status, { "Content-Type": type }).end(body);
}).listen(port, "127.0.0.1", () => console.log(`open http://localhost:${port}; the node is at ${node}`));
