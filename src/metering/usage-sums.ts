/** `blocked` counts responses with 429; `errors` all others with 400 or more. */
export interface UsageSums {
  requests: number;
  errors: number;
  blocked: number;
  /** Response bodies as sent. */
  bytes: number;
}

export function addRow(
  sums: UsageSums,
  { outcome, requests, bytes }: { outcome: string; requests: number; bytes: number },
): void {
  sums.requests += requests;
  sums.bytes += bytes;
  if (outcome === "blocked") sums.blocked += requests;
  else if (outcome === "4xx" || outcome === "5xx") sums.errors += requests;
}

export function noSums(): UsageSums {
  return { requests: 0, errors: 0, blocked: 0, bytes: 0 };
}
