/** Signing in and out, passwords, and second factors. The demo knows no passwords, and can't check codes or passkeys. */
import type { Calls, PublicHandlers, ResponseHandlers } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { found, Refusal } from "../world/failures.ts";
import { isoOf, isoOrNull, signedInPerson } from "../world/find.ts";
import { newId } from "../world/ids.ts";
import type { Person, World } from "../world/world.ts";
import { requireGoodPassword } from "./passwords.ts";
import { beginSession, hasFactor, ownSession, sessionView, signedInView } from "./sessionViews.ts";

const category = "personalSettings" as const;

const note = (world: World, type: string, text: string) => record(world, { type, category, text });

function personWith({ people }: World, email: string): Person {
  const person = people.find((one) => one.email === email.toLowerCase());
  if (person !== undefined) return person;
  const example = people[0]?.email ?? "";
  throw new Refusal(
    "wrong_credentials",
    `Nobody of the demo has this address. Sign in as ${example}, with any password.`,
  );
}

/** Any code is right, except one that is good for looking at the refusal. */
function requireCode(code: string): void {
  if (code === "000000") throw new Refusal("wrong_code", "The code is wrong, too old, or was used before.");
}

const noPasskeys =
  "The demo has no passkeys: your device would keep them, and they would open nothing. Use a password.";

const challenge = "c2l0ZXdyaWdodC1kZW1vLWNoYWxsZW5nZQ";
const passkeyRequest = () => ({
  ...{ challenge, rpId: globalThis.location?.hostname ?? "demo.example", timeout: 60_000 },
  userVerification: "required" as const,
  allowCredentials: [],
});

const factorView = (world: World, person: Person) => {
  const { appSince, passkeys, recoveryCodesLeft } = person.factor;
  const first = passkeys[0]?.created_at ?? null;
  return {
    since: isoOrNull(appSince) ?? first,
    app_since: isoOrNull(appSince),
    passkeys,
    recovery_codes_left: recoveryCodesLeft,
    is_required: world.company.requiresSecondFactor,
  };
};

function newRecoveryCodes(person: Person): string[] {
  person.factor.recoveryCodesLeft = 10;
  return Array.from({ length: 10 }, () =>
    newId()
      .slice(4, 23)
      .replace("-", "")
      .replace(/(.{4})(?=.)/g, "$1-")
      .slice(0, 19),
  );
}

/** Without a factor, there are no recovery codes either. */
function withoutCodes(world: World, person: Person) {
  if (!hasFactor(person)) person.factor.recoveryCodesLeft = 0;
  return factorView(world, person);
}

/** New codes come with the first factor only. */
function added(world: World, person: Person, isFirst: boolean) {
  const recovery_codes = isFirst ? newRecoveryCodes(person) : [];
  return { second_factor: factorView(world, person), recovery_codes };
}

export const sessionCalls = {
  listProviderAccounts: () => [],
  getSession: signedInView,
  changePassword: (world, { body }) => {
    requireGoodPassword(body.new_password);
    note(world, "changePassword", "Change the own password");
    return signedInView(world);
  },
  listSessions: (world) => {
    const { id: personId } = signedInPerson(world);
    return world.sessions
      .filter((session) => session.personId === personId)
      .map((session) => sessionView(world, session));
  },
  endSession: (world, { params }) => {
    const session = found(world.sessions.find(({ id }) => id === params.session_id));
    world.sessions.splice(world.sessions.indexOf(session), 1);
    note(world, "endSession", "End a session");
    return sessionView(world, session);
  },
  endOtherSessions: (world) => {
    const own = ownSession(world);
    const others = world.sessions.filter(({ id, personId }) => personId === own.personId && id !== own.id);
    for (const session of others) world.sessions.splice(world.sessions.indexOf(session), 1);
    note(world, "endOtherSessions", "End all other sessions");
    return others.map((session) => sessionView(world, session));
  },
  getSecondFactor: (world) => factorView(world, signedInPerson(world)),
  beginSecondFactor: (world) => {
    const { factor, email } = signedInPerson(world);
    if (factor.appSince !== null)
      throw new Refusal("second_factor_exists", "You have an authenticator app. Remove it first.");
    const secret = "DEMODEMODEMODEMODEMODEMODEMODEMO";
    return { secret, uri: `otpauth://totp/Sitewright%20demo:${encodeURIComponent(email)}?secret=${secret}` };
  },
  confirmSecondFactor: (world, { body }) => {
    requireCode(body.code);
    const person = signedInPerson(world);
    const isFirst = !hasFactor(person);
    person.factor.appSince = world.clock.now();
    note(world, "addSecondFactor", "Add an authenticator app");
    return added(world, person, isFirst);
  },
  replaceRecoveryCodes: (world) => {
    const person = signedInPerson(world);
    if (!hasFactor(person)) throw new Refusal("no_second_factor", "You have no second factor. Add one first.");
    note(world, "replaceRecoveryCodes", "Replace the recovery codes");
    return added(world, person, true);
  },
  removeAuthenticatorApp: (world) => {
    const person = signedInPerson(world);
    if (person.factor.appSince === null) throw new Refusal("no_authenticator_app", "You have no authenticator app.");
    person.factor.appSince = null;
    note(world, "removeAuthenticatorApp", "Remove the authenticator app");
    return withoutCodes(world, person);
  },
  beginPasskey: (world) => {
    const { id, email, fullName, factor } = signedInPerson(world);
    return {
      challenge,
      rp: { id: globalThis.location?.hostname ?? "demo.example", name: "Sitewright demo" },
      user: { id: btoa(id).replaceAll("=", ""), name: email, displayName: fullName },
      pubKeyCredParams: [{ alg: -7, type: "public-key" }],
      timeout: 60_000,
      attestation: "none",
      excludeCredentials: factor.passkeys.map(({ id: one }) => ({
        id: btoa(one).replaceAll("=", ""),
        type: "public-key",
        transports: [],
      })),
      authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
    };
  },
  addPasskey: (world, { body: { name } }) => {
    const person = signedInPerson(world);
    const isFirst = !hasFactor(person);
    const origin = globalThis.location?.origin ?? "https://demo.example";
    const created_at = isoOf(world.clock.now());
    person.factor.passkeys.push({ id: newId(), name, created_at, last_used_at: null, is_backed_up: false, origin });
    note(world, "addPasskey", `Add the passkey “${name}”`);
    return added(world, person, isFirst);
  },
  removePasskey: (world, { params }) => {
    const person = signedInPerson(world);
    const passkey = found(person.factor.passkeys.find(({ id }) => id === params.passkey_id));
    person.factor.passkeys.splice(person.factor.passkeys.indexOf(passkey), 1);
    note(world, "removePasskey", `Remove the passkey “${passkey.name}”`);
    return withoutCodes(world, person);
  },
} satisfies Partial<Calls<World>>;

export const signOutHandlers = {
  signOut: async (world) => {
    const session = ownSession(world);
    const view = sessionView(world, session);
    world.sessions.splice(world.sessions.indexOf(session), 1);
    world.sessionId = null;
    return { status: 200, body: { session: view } };
  },
} satisfies Partial<ResponseHandlers<World>>;

export const signInHandlers = {
  signIn: async (world, { body }) => {
    const person = personWith(world, body.email);
    if (person.factor.appSince !== null && body.code === undefined) {
      const details = { factors: ["code"] };
      throw new Refusal(
        "second_factor_needed",
        "Write a code of your authenticator app. In the demo, any six digits do.",
        details,
      );
    }
    if (body.code !== undefined) requireCode(body.code);
    beginSession(world, person);
    return { status: 201, body: signedInView(world) };
  },
  getSignInOptions: async () => {
    const options = { resets_passwords_by_mail: true, provider: null, passkeys_unavailable_because: noPasskeys };
    return { status: 200, body: { sign_in_options: options } };
  },
  beginPasskeySignIn: async () => ({ status: 201, body: { options: passkeyRequest() } }),
  signInWithPasskey: async (world) => {
    const [person] = world.people.filter(({ factor }) => factor.passkeys.length > 0);
    if (person === undefined) throw new Refusal("wrong_passkey", "Nobody of the demo has a passkey yet.");
    beginSession(world, person);
    return { status: 201, body: signedInView(world) };
  },
  requestPasswordReset: async () => ({ status: 200, body: { valid_minutes: 60 } }),
  checkPasswordReset: async (world) => {
    const expires_at = isoOf(world.clock.now() + 3_600_000);
    return { status: 200, body: { password_reset: { email: found(world.people[0]).email, expires_at } } };
  },
  completePasswordReset: async (world, { body }) => {
    requireGoodPassword(body.new_password);
    return { status: 200, body: { user: { email: found(world.people[0]).email } } };
  },
} satisfies Partial<PublicHandlers<World>>;
