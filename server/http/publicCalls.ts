/** Handles requests that need no key. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import type { PublicHandlers } from "@sitewright/contract/endpoints.ts";
import { accept, check } from "@sitewright/server/app/company/invitations.ts";
import { type SignedIn, sessionSeconds, type VisitorContext } from "@sitewright/server/app/company/newSessions.ts";
import { begin as beginPasskeySignIn, signInWithPasskey } from "@sitewright/server/app/company/passkeySignIns.ts";
import * as passwordResets from "@sitewright/server/app/company/passwordResets.ts";
import { partSeconds } from "@sitewright/server/app/company/providerIdentities.ts";
import * as providerSignIns from "@sitewright/server/app/company/providerSignIns.ts";
import { signedInView } from "@sitewright/server/app/company/sessions.ts";
import { signIn } from "@sitewright/server/app/company/signIns.ts";
import type { App } from "@sitewright/server/app/context.ts";
import { DatabaseUnavailable } from "@sitewright/server/app/failures.ts";
import { withoutKey } from "@sitewright/server/app/idempotency.ts";
import { clientNetwork } from "@sitewright/server/app/traffic/networks.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ReadBody } from "./bodies.ts";
import type { AnyAnswer } from "./handling.ts";
import { originOf } from "./paths.ts";
import { type CheckedInput, makeInputReader } from "./reading/input.ts";
import { signInCookie as cookieToKeep, requireOwnPage, sessionCookie, signInCookieOf } from "./sessionCookies.ts";
import { tokenFacts } from "./tokens.ts";

export const publicHandlers = {
  signIn: async (context, { body }) => signedIn(context, await signIn(context, body)),
  acceptInvitation: async (context, { body }) => signedIn(context, await accept(context, body)),
  checkInvitation: async (context, { body }) => ok({ invitation: await check(context, body.token) }),
  getSignInOptions: async (context) => ok({ sign_in_options: passwordResets.signInOptions(context) }),
  beginPasskeySignIn: async (context) => ({
    status: 201,
    headers: noStore,
    body: beginPasskeySignIn(context),
  }),
  signInWithPasskey: async (context, { body }) => signedIn(context, await signInWithPasskey(context, body.credential)),
  beginProviderSignIn: async (context, { body }) => {
    const { url, cookie } = await providerSignIns.begin(context, body.purpose);
    return { status: 201, headers: keeping(context, cookie), body: { url } };
  },
  readProviderAnswer: async (context, { body }) => {
    const { cookie, ...found } = await providerSignIns.readAnswer(context, body.answer);
    return { status: 200, headers: keeping(context, cookie), body: found };
  },
  signInWithProvider: async (context, { body }) =>
    signedIn(context, await providerSignIns.signInWithProvider(context, body)),
  requestPasswordReset: async (context, { body }) => ok(await passwordResets.request(context, body.email)),
  checkPasswordReset: async (context, { body }) =>
    ok({ password_reset: await passwordResets.check(context, body.token) }),
  completePasswordReset: async (context, { body }) => ok({ user: await passwordResets.complete(context, body) }),
} satisfies PublicHandlers<VisitorContext>;

const noStore = { "cache-control": "no-store" } as const;

const ok = <Body>(body: Body) => ({ status: 200, headers: noStore, body }) as const;

/** Keeps in the browser what the next step of a sign-in through the provider needs. */
const keeping = ({ origin }: VisitorContext, cookie: string) => ({
  "set-cookie": cookieToKeep(origin, cookie, partSeconds),
  ...noStore,
});

function signedIn({ origin }: VisitorContext, { user, session, token }: SignedIn) {
  const headers = { "set-cookie": sessionCookie(origin, token, sessionSeconds), ...noStore };
  return { status: 201, headers, body: signedInView(user, session) } as const;
}

/** A handler of any of them. The row's schemas check at run time that its input fits. */
interface AnyPublicHandler {
  handle(context: VisitorContext, input: CheckedInput): Promise<AnyAnswer>;
}

const handlersByName = new Map(Object.entries<AnyPublicHandler["handle"]>(publicHandlers));

/** Milliseconds. */
const placeMilliseconds = 15_000;

/** Makes the Fastify handler of one endpoint. */
export function makePublicResponder(app: App, { name, row }: { readonly name: string; readonly row: Endpoint }) {
  const handle = handlersByName.get(name);
  if (handle === undefined) throw new Error(`No handler for ${name}`);
  const reader = makeInputReader(row);
  return async (request: FastifyRequest<{ Body: ReadBody | undefined }>, reply: FastifyReply) => {
    if (isFromBrowser(request)) requireOwnPage(request);
    const input = reader.input({ params: {}, query: {}, body: request.body });
    const visitor = { ipAddress: request.ip, userAgent: request.headers["user-agent"] };
    const takePlace = () =>
      app.transactions
        .take(clientNetwork(request.ip), AbortSignal.timeout(placeMilliseconds))
        .catch((error: unknown) => {
          throw new DatabaseUnavailable(error);
        });
    const earlierToken = tokenFacts(request.raw, request.protocol === "https");
    const database = withoutKey(app.database, takePlace);
    const signInCookie = signInCookieOf(request);
    const context = { ...app, ...database, visitor, earlierToken, signInCookie, origin: originOf(request) };
    const { status, headers = {}, body } = await handle(context, input);
    return reply.code(status).headers(headers).send(body);
  };
}

/** Only a browser can be made to send a request by a page of somebody else. */
const isFromBrowser = ({ headers }: FastifyRequest): boolean =>
  headers["sec-fetch-site"] !== undefined || headers.origin !== undefined;
