/** Every form shows its request as a curl command. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Forms without a command, and why. */
const exceptions: Readonly<Record<string, string>> = {
  "parts/SignInForm.tsx": "It starts a session; programs use API keys.",
  "parts/PasswordForm.tsx": "Only a session can change the password of its user.",
  "parts/AddSecondFactor.tsx": "Only a session can add a second factor.",
  "parts/AddPasskey.tsx": "Only a session can add a passkey, and only a browser can make one.",
  "parts/PasswordDialog.tsx": "It asks for the password before changes that only a session can make.",
  "pages/provider/AcceptForm.tsx": "A sign-in at the provider in this browser takes the place of a key.",
  "pages/provider/LinkForm.tsx": "Only a session can link an account.",
  "pages/provider/ProofForm.tsx": "It starts a session; programs use API keys.",
  "pages/ForgottenPasswordPage.tsx": "It is for people who can't sign in; programs use API keys.",
  "pages/PasswordResetPage.tsx": "The mailed link takes the place of a key.",
  "pages/InvitationPage.tsx": "The link in an invitation takes the place of a key.",
};

const folder = join(import.meta.dirname, "../../console/app");
const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

const withoutCommand = globSync("**/*.tsx", { cwd: folder })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return count(text, /<form\b/g) > count(text, /<CurlButton\b/g);
  });

test("every form has a button that shows its request, except those that are listed with a reason", () => {
  expect(withoutCommand.filter((file) => !(file in exceptions))).toEqual([]);
});

test("no exception is out of date", () => {
  expect(Object.keys(exceptions).filter((file) => !withoutCommand.includes(file))).toEqual([]);
});
