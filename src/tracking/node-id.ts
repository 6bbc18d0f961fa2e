/** GitHub's present form, such as `R_kgDOAA`. The form before it is Base64 of words. */
const PRESENT = /^[A-Z]{1,4}_/;

/**
 * The node id to keep of a repository: the one just sent, but never one of the old form instead of one of the present form.
 * GitHub promises the present form over GraphQL only, and its queries soon accept no other. Other forges send null.
 */
export function keptNodeId(known: string | null, sent: string | null): string | null {
  if (sent === null) return known;
  return known !== null && PRESENT.test(known) && !PRESENT.test(sent) ? known : sent;
}
