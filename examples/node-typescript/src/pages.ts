/** Pages of the list endpoints: numbered from 1, 20 items unless told, 40 at most. */

import { digits, optional } from "./fields.js";

const DEFAULT_SIZE = 20;
const MAX_SIZE = 40;

export const pageFields = {
  page_number: optional(digits(1, Number.MAX_SAFE_INTEGER), 1),
  page_size: optional(digits(1, MAX_SIZE), DEFAULT_SIZE),
};

export interface PageFields {
  readonly page_number: number;
  readonly page_size: number;
}

export function slice<T>(items: Iterable<T>, page: PageFields): T[] {
  const start = (page.page_number - 1) * page.page_size;
  return [...items].slice(start, start + page.page_size);
}

/** A page in its container. */
export function pageOf<T>(items: readonly T[], page: PageFields): object {
  return {
    entries: slice(items, page),
    page: { number: page.page_number, size: page.page_size, total: items.length },
  };
}
