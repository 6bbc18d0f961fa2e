/**
 * The headers that report what is left, and what they mean: `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, and older
 * ones that many clients know.
 */
export const RATE_HEADERS = {
  "RateLimit-Policy": 'The limit: bucket, requests (q), seconds (w), such as "search";q=120;w=60.',
  RateLimit:
    'What is left: bucket, requests that would succeed now (r), seconds until there are more (t), such as "search";r=119;t=1.',
  "X-RateLimit-Limit": "The same as q.",
  "X-RateLimit-Remaining": "The same as r.",
  "X-RateLimit-Reset":
    "When there is more, in seconds since 1970: after a 429 the time at which the same request succeeds.",
  "X-RateLimit-Resource": "The bucket.",
} as const;
