// The contract that the scripts of this folder deploy: what the test hands over as JSON in the third argument.

export const [url, privateKey, contractJson] = process.argv.slice(2);
export const { abi, bytecode } = JSON.parse(contractJson);

export function check(condition, message) {
  if (!condition) throw new Error(message);
}

export function same(actual, expected, what) {
  const [a, b] = [actual, expected].map((value) =>
    JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner)),
  );
  check(a === b, `${what}: got ${a}, expected ${b}`);
}
