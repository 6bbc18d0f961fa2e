import type { FC } from "hono/jsx";

/**
 * The button that signs in with a passkey and continues to `next`. `passkey.js` shows it where the browser has passkeys for
 * `origin`, that of the base URL.
 */
export const PasskeySignIn: FC<{ next: string; origin: string }> = ({ next, origin }) => (
  <div data-passkey="sign-in" data-next={next} data-origin={origin} hidden>
    <div class="buttons">
      <button type="button">Sign in with a passkey</button>
    </div>
    <p class="note wrong" data-problem hidden></p>
  </div>
);
