import type { FC } from "hono/jsx";
import { forgeName } from "../../forges.js";
import { repositoryKey } from "../../page-addresses.js";
import type { TrackingOffer } from "../tracking-offer.js";

interface TrackFormsProps {
  offers: readonly TrackingOffer[];
  /** What the buttons say; default: the name of each repository. */
  label?: string;
}

/** Buttons that request repositories which are not tracked yet; nothing without offers. */
export const TrackForms: FC<TrackFormsProps> = ({ offers, label }) => {
  const [first] = offers;
  if (first === undefined) return null;
  const forges = [...new Set(offers.map(({ provider }) => forgeName(provider)))].join(" and ");
  return (
    <>
      <div class="buttons">
        {offers.map((offer) => (
          <form method="post" action="/track">
            <input type="hidden" name="repository" value={repositoryKey(offer)} />
            <button type="submit" class="press">
              {label ?? `Track ${offer.fullName}`}
            </button>
          </form>
        ))}
      </div>
      <p class="soft small">
        We look {offers.length === 1 ? "it" : "them"} up on {forges}.
        {first.needsSignIn ? " You sign in first." : ""}
      </p>
    </>
  );
};
