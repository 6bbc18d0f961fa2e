/** Weights of media types in an `Accept` header (RFC 9110, 12.5.1). A type without a weight that can be read has the weight 1. */
function weightsOf(accept: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = part.split(";").map((text) => text.trim());
    const weight = Number(parameters.find((one) => one.startsWith("q="))?.slice(2) ?? 1);
    weights.set(type, Number.isNaN(weight) ? 1 : weight);
  }
  return weights;
}

/** Whether a caller would rather have a table than JSON: it must name text/csv, and not like JSON more, or as much by its name. */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes("text/csv")) return false;
  const weights = weightsOf(accept);
  const csv = weights.get("text/csv") ?? 0;
  const json = weights.get("application/json");
  if (csv === 0) return false;
  if (json !== undefined) return csv > json;
  return csv >= (weights.get("application/*") ?? weights.get("*/*") ?? 0);
}
