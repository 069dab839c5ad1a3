// Asks the example's reader about statements, one JSON line each.
import { createInterface } from "node:readline";
import { compare, read } from "../../examples/client-statement/statement.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { envelope, signers, measured, chain, results, mostDays, at } = JSON.parse(line);
  try {
    compare(read(envelope, signers), measured, chain, { results, mostDays, now: new Date(at * 1000) });
    console.log("accepted");
  } catch (problem) {
    console.log(`refused: ${String(problem).replaceAll("\n", " ")}`);
  }
}
