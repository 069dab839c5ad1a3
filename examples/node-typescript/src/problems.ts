/** Refusals, answered as `{"error": …, "message": …}`. The specification leaves status and body open. */

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
  ) {
    super(detail);
  }

  document(): object {
    return { error: this.code, message: this.detail };
  }
}

export const malformed = (detail: string) => new Problem(400, "malformed-request", detail);
export const unauthenticated = (detail: string) => new Problem(401, "unauthenticated", detail);
export const outOfCredit = () => new Problem(402, "out-of-credit", "The prepaid credit does not cover this call");
export const forbidden = (detail: string) => new Problem(403, "forbidden", detail);
export const unknown = (what: string) => new Problem(404, `unknown-${what}`, `This account has no such ${what}`);
export const conflict = (detail: string) => new Problem(409, "conflict", detail);
export const invalid = (field: string, wanted: string) =>
  new Problem(400, "invalid-field", `${field}: expected ${wanted}`);
export const actionFailed = (detail: string) => new Problem(424, "action-failed", detail);
