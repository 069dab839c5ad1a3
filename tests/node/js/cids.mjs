// Writes a file of CID vectors anew with the CIDs that IPFS's own importer gives, at the settings of `ipfs add`.
// Usage: node cids.mjs VECTORS.json > SAME.json; ../test_cid.py says how the two are compared.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { BlackHoleBlockstore } from 'blockstore-core'
import { importer } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'

const SETTINGS = {
  cidVersion: 0,
  rawLeaves: false,
  wrapWithDirectory: false,
  chunker: fixedSize({ chunkSize: 262144 }),
  layout: balanced({ maxChildrenPerNode: 174 })
}

// The rule that the vectors state: hex SHA-256 of the seed and a counter, again and again, cut to the length.
function content ({ seed, length }) {
  const blocks = []
  for (let count = 0; count * 64 < length; count++) {
    blocks.push(createHash('sha256').update(`${seed}:${count}`).digest('hex'))
  }
  return Buffer.from(blocks.join('').slice(0, length))
}

const document = JSON.parse(readFileSync(process.argv[2], 'utf8'))
for (const vector of document.vectors) {
  for await (const file of importer([{ content: content(vector) }], new BlackHoleBlockstore(), SETTINGS)) {
    vector.cid = file.cid.toString()
  }
}
console.log(JSON.stringify(document, null, 2))
