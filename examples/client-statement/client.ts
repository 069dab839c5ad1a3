// Sends a key to a service only if the code that answers is code that somebody judged whom this client believes:
//   service-conformance verify https://service.example --json > verdict.json
//   npm start -- https://service.example verdict.json statement.json signer.pem
// The first command judges hardware, measurements and connection. This reads the statement itself, with other libraries.
import { readFile } from "node:fs/promises";
import { type Chain, compare, type Measured, read, Refused } from "./statement.js";

interface Verdict { verdict: string; at: number; identity: Measured }

const [url, verdictFile, statementFile, ...signerFiles] = process.argv.slice(2);
const text = (file: string) => readFile(file, "utf8");

try {
  const verdict = JSON.parse(await text(verdictFile)) as Verdict;
  if (verdict.verdict !== "verified") throw new Refused("the evidence of the service is refused");
  const statement = read(await text(statementFile), await Promise.all(signerFiles.map(text)));
  const chain = await (await fetch(`${url}/core/v1/get_node_chain_config`)).json() as Chain;
  const accepted = { results: ["PASSED"], mostDays: 90, now: new Date(verdict.at * 1000) };
  compare(statement, verdict.identity, chain, accepted);
} catch (problem) {
  console.error(`No key is sent: ${problem instanceof Error ? problem.message : problem}`);
  process.exit(1);
}
const answer = await fetch(`${url}/core/v1/billing/balance`, { headers: { "X-Api-Key": process.env.API_KEY ?? "" } });
console.log(`The code was judged; the key was sent: ${answer.status}`);
