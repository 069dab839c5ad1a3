/** Pages of the list endpoints: numbered from 1, 15 items unless told, 40 at most. */

import { digits, optional, type Reader } from "./fields.js";

const DEFAULT_SIZE = 15;
const MAX_SIZE = 40;

function atMost(size: number): Reader<number> {
  const reader = digits(1, Number.MAX_SAFE_INTEGER);
  return { ...reader, read: (value, field) => Math.min(size, reader.read(value, field)) };
}

export const pageFields = {
  page_number: optional(digits(1, Number.MAX_SAFE_INTEGER), 1),
  /** A larger page than the largest comes as the largest. */
  page_size: optional(atMost(MAX_SIZE), DEFAULT_SIZE),
};

export interface PageFields {
  readonly page_number: number;
  readonly page_size: number;
}

export function slice<T>(items: Iterable<T>, page: PageFields): T[] {
  const start = (page.page_number - 1) * page.page_size;
  return [...items].slice(start, start + page.page_size);
}

/** A page in its container, the newest item first. `list_groups` alone has the newest last, as the text says. */
export function pageOf<T>(items: readonly T[], page: PageFields): object {
  return {
    entries: slice(items.toReversed(), page),
    page: { number: page.page_number, size: page.page_size, total: items.length },
  };
}
