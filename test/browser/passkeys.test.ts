import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { SoftwareAuthenticator } from "../support/authenticator.js";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser, signInByMail } from "../support/browser-world.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";

/** Gives a page an authenticator of Chromium's own, whose user agrees to everything. */
async function plugIn(page: Page): Promise<{ session: CDPSession; authenticatorId: string }> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { session, authenticatorId };
}

const signInButton = (page: Page) => page.getByRole("button", { name: "Sign in with a passkey" });

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto("/account/passkeys");
  await page.getByLabel(/^Name/).fill(name);
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByText("The passkey is added.").waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.goto("/account");
  await page.getByRole("main").getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL((url) => url.pathname === "/");
}

describe("Passkeys in a browser", { skip: NO_CHROMIUM }, () => {
  onSqliteAndLong("with Chromium's authenticator", (engine) => {
    const mailbox = openMailbox();
    // A name, as browsers have no passkeys for addresses.
    const world = inTheBrowser(engine, () => ({
      ...mailbox.settings,
      SIDEREAL_BASE_URL: "http://localhost:0",
    }));

    test("add a passkey, sign in with it, remove it, be refused", async () => {
      const page = await world.visit();
      await plugIn(page);
      await signInByMail(page, mailbox, "/account/passkeys");
      await addPasskey(page, "my <b>phone</b>");
      await page.getByRole("rowheader", { name: "my <b>phone</b>" }).waitFor();
      await page.getByRole("button", { name: "Add passkey" }).waitFor();

      await page.getByLabel(/^Name/).fill("twice");
      await page.getByRole("button", { name: "Add passkey" }).click();
      await page
        .getByRole("alert")
        .getByText("This device has a passkey for this account already.")
        .waitFor();

      await signOut(page);
      await page.goto("/sign-in?next=/watchlist?window=7d");
      await signInButton(page).click();
      await page.waitForURL((url) => url.pathname + url.search === "/watchlist?window=7d");
      await page.goto("/account");
      assert.match(await page.locator("dl.profile").innerText(), /Email, Passkey/);

      await page.goto("/account/passkeys");
      await page.locator("summary", { hasText: "Remove" }).click();
      await page.getByRole("button", { name: /^Remove my/ }).click();
      await page.getByText("The passkey is removed.").waitFor();
      await signOut(page);
      await page.goto("/sign-in");
      await signInButton(page).click();
      await page.getByRole("alert").getByText("This passkey is not accepted.").waitFor();
      assert.equal(new URL(page.url()).pathname, "/sign-in");
      assert.equal(await signInButton(page).isEnabled(), true, "it can be tried again");
    });

    test("a user who is not verified, or has no passkey, is told so and not signed in", async () => {
      const page = await world.visit();
      const { session, authenticatorId } = await plugIn(page);
      await page.goto("/sign-in");
      await signInButton(page).click();
      await page.getByRole("alert").getByText("No passkey was used").waitFor();
      await signInByMail(page, mailbox, "/account/passkeys");
      await addPasskey(page, "phone");
      await signOut(page);
      await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
      await page.goto("/sign-in");
      await signInButton(page).click();
      await page.getByRole("alert").getByText("No passkey was used").waitFor();
    });

    test("without scripts nothing offers what needs them, and a passkey can be removed", async () => {
      const page = await world.visit({ scripts: false });
      await page.goto("/sign-in");
      assert.equal(await signInButton(page).count(), 0);
      await page.getByLabel("Email address").waitFor();
      await signInByMail(page, mailbox, "/account/passkeys");
      await page.getByText("Adding a passkey needs scripts").waitFor();
      assert.equal(await page.getByRole("button", { name: "Add passkey" }).count(), 0);

      const { request } = page.context();
      const headers = { Origin: world.url };
      const options = await (await request.post("/api/me/passkey-options", { headers })).json();
      const credential = new SoftwareAuthenticator(world.url).create(options.data);
      const data = { name: "phone", credential };
      assert.equal((await request.post("/api/me/passkeys", { headers, data })).status(), 201);
      await page.goto("/account/passkeys");
      await page.locator("summary", { hasText: "Remove" }).click();
      await page.getByRole("button", { name: "Remove phone" }).click();
      await page.getByText("The passkey is removed.").waitFor();
      assert.equal(await page.getByRole("rowheader").count(), 0);
    });

    test("if the page was opened under another name, the browser offers none", async () => {
      const page = await world.visit();
      await plugIn(page);
      await page.goto(`${world.url.replace("localhost", "127.0.0.1")}/sign-in`);
      await page.getByLabel("Email address").waitFor();
      await page.waitForLoadState("networkidle");
      assert.equal(await signInButton(page).count(), 0);
    });
  });
});
