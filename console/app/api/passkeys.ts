/** Passkeys: what the browser does with the API's options. Its library is loaded when it is needed. */
import { queryOptions, type UseQueryResult } from "@tanstack/react-query";
import { texts } from "../texts.ts";
import { answerOf, api, type Schemas } from "./client.ts";
import { ApiFailure, fieldOf, textAt } from "./failure.ts";
import type { SignedIn } from "./session.ts";

type SignInOptions = Schemas["SignInOptions"];

/** How people can sign in at this address. */
export const signInOptionsQuery = queryOptions({
  queryKey: ["sign-in-options"],
  queryFn: async ({ signal }) => (await answerOf(api.GET("/sign-in-options", { signal }))).sign_in_options,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Why passkeys can't be used now, or null. `error`: why the options could not be read. */
export function passkeyObstacle({ data: options, error }: Pick<UseQueryResult<SignInOptions>, "data" | "error">) {
  if (options === undefined) return error === null ? texts.loading : error.message;
  if (options.passkeys_unavailable_because !== null) return options.passkeys_unavailable_because;
  return "PublicKeyCredential" in window ? null : texts.passkeys.unsupported;
}

const library = () => import("@simplewebauthn/browser");

/** The browser has said no, or the person has: there is no answer for the API. */
class NoPasskey extends Error {}

/** Asks for the password, makes a passkey, and adds it. */
export async function addPasskey({
  name,
  current_password,
}: {
  readonly name: string;
  readonly current_password: string;
}) {
  const body = { current_password };
  const { options } = await answerOf(api.POST("/session/passkeys/options", { body }));
  const { startRegistration } = await library();
  const { id, type, response } = await startRegistration({ optionsJSON: options }).catch(refuse);
  const { clientDataJSON, attestationObject, transports = [] } = response;
  const credential = { id, type, response: { clientDataJSON, attestationObject, transports } };
  return answerOf(api.POST("/session/passkeys", { body: { name, credential } }));
}

/** Signs in with a passkey alone. */
export async function signInWithPasskey(): Promise<SignedIn> {
  const { options } = await answerOf(api.POST("/sessions/passkey/options"));
  const credential = await usedPasskey(options);
  return answerOf(api.POST("/sessions/passkey", { body: { credential } }));
}

/** The passkey that the person chooses. */
export async function usedPasskey(options: Schemas["PasskeyRequest"]): Promise<Schemas["UsedPasskey"]> {
  const { startAuthentication } = await library();
  const { id, type, response } = await startAuthentication({ optionsJSON: options }).catch(refuse);
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  return { id, type, response: { clientDataJSON, authenticatorData, signature, ...(userHandle && { userHandle }) } };
}

function refuse(error: unknown): never {
  const name = textAt(error, "name");
  if (name === "InvalidStateError") throw new NoPasskey(texts.passkeys.exists);
  if (name === "NotAllowedError" || name === "AbortError") throw new NoPasskey(texts.passkeys.cancelled);
  throw error;
}

/** What is needed besides the right password. */
export interface NeededFactor {
  readonly hasCode: boolean;
  /** Null: the person has no passkey for this address. */
  readonly passkey: Schemas["PasskeyRequest"] | null;
  /** What to do, in the API's words. */
  readonly message: string;
}

/** Null: the failure is another one. */
export function neededFactorIn(error: unknown): NeededFactor | null {
  if (!(error instanceof ApiFailure) || error.code !== "second_factor_needed") return null;
  const [factors, options] = [fieldOf(error.data, "factors"), fieldOf(error.data, "passkey_options")];
  return {
    hasCode: Array.isArray(factors) && factors.includes("code"),
    passkey: isRequest(options) ? options : null,
    message: error.message,
  };
}

const isRequest = (value: unknown): value is Schemas["PasskeyRequest"] =>
  textAt(value, "challenge") !== null && Array.isArray(fieldOf(value, "allowCredentials"));
