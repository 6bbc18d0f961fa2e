import { z } from "zod";

/** An e-mail address as typed by a person. */
export const emailField = z
  .email({ error: ({ input }) => (input === undefined ? undefined : "must be an e-mail address") })
  .max(254, "must be at most 254 characters");
