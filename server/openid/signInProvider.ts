/**
 * Signing in through an OpenID Connect provider: the authorization code flow with PKCE, by the library openid-client. The library is
 * loaded when somebody signs in.
 *
 * What the provider says about itself is kept for a while. Its keys are read for each sign-in, so they can change at any time.
 */
import type * as OpenId from "openid-client";
import { AnswerRefused, isDenial, obstacleIn, ProviderUnavailable, wordsOf } from "./failures.ts";

/** How the installation is registered at the provider. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** For people. */
  readonly name: string;
  /** The only domains of e-mail addresses that are accepted, in lower case. Null: all. */
  readonly emailDomains: readonly string[] | null;
}

/** What the browser must bring back. Only this installation may read it. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The page to which the provider sends the browser back. */
  readonly redirectUri: string;
}

/** Who has signed in at the provider. */
export interface ProviderIdentity {
  readonly issuer: string;
  /** Never changes, and nobody else of this issuer has it. */
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider says that the address is that of this person. */
  readonly isVerified: boolean;
}

export interface SignInProvider extends Pick<ProviderSettings, "issuer" | "name" | "emailDomains"> {
  /** The address of the provider's page, and what its answer is checked with. Throws `ProviderUnavailable`. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly pending: PendingSignIn }>;
  /**
   * `answer`: the query with which the provider has sent the browser back. Throws `AnswerRefused` or `ProviderUnavailable`. Each answer
   * is accepted once.
   */
  finish(answer: string, pending: PendingSignIn): Promise<ProviderIdentity>;
}

const library = () => import("openid-client");
type Library = Awaited<ReturnType<typeof library>>;

const timeoutSeconds = 10;
/** How long what the provider says about itself is kept. Milliseconds. */
const keptMilliseconds = 10 * 60 * 1000;

interface Log {
  warn(facts: Readonly<Record<string, unknown>>, message: string): void;
}

export function makeSignInProvider(settings: ProviderSettings, log: Log): SignInProvider {
  let found: { readonly at: number; readonly server: Promise<OpenId.ServerMetadata> } | null = null;

  function serverMetadata(openId: Library): Promise<OpenId.ServerMetadata> {
    if (found !== null && performance.now() - found.at < keptMilliseconds) return found.server;
    const server = discover(openId, settings);
    found = { at: performance.now(), server };
    server.catch(() => {
      found = null;
    });
    return server;
  }

  async function withProvider<T>(work: (openId: Library, config: OpenId.Configuration) => Promise<T>): Promise<T> {
    const openId = await library();
    try {
      return await work(openId, configurationOf(openId, settings, await serverMetadata(openId)));
    } catch (error) {
      log.warn({ issuer: settings.issuer, reason: wordsOf(error) }, "A sign-in at the provider failed");
      throw failureOf(settings, error);
    }
  }

  return {
    issuer: settings.issuer,
    name: settings.name,
    emailDomains: settings.emailDomains,
    begin: (redirectUri) => withProvider((openId, config) => begin(openId, config, redirectUri)),
    finish: (answer, pending) => withProvider((openId, config) => finish(openId, config, answer, pending)),
  };
}

/** What the provider says about itself. */
async function discover(openId: Library, settings: ProviderSettings): Promise<OpenId.ServerMetadata> {
  const { issuer, clientId } = settings;
  const execute = isPlain(issuer) ? [openId.allowInsecureRequests] : [];
  const options = { execute, timeout: timeoutSeconds };
  return (await openId.discovery(new URL(issuer), clientId, undefined, openId.None(), options)).serverMetadata();
}

/** A new one for each sign-in, because each keeps the provider's keys. */
function configurationOf(
  openId: Library,
  { issuer, clientId, clientSecret }: ProviderSettings,
  server: OpenId.ServerMetadata,
): OpenId.Configuration {
  // Basic is what the standard prescribes if the provider names none.
  const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
  const { ClientSecretBasic, ClientSecretPost } = openId;
  const authentication = methods.includes("client_secret_basic") ? ClientSecretBasic : ClientSecretPost;
  const config = new openId.Configuration(server, clientId, clientSecret, authentication(clientSecret));
  config.timeout = timeoutSeconds;
  openId.enableNonRepudiationChecks(config);
  if (isPlain(issuer)) openId.allowInsecureRequests(config);
  return config;
}

/** The settings accept this only for providers on this machine. */
const isPlain = (issuer: string): boolean => new URL(issuer).protocol === "http:";

async function begin(openId: Library, config: OpenId.Configuration, redirectUri: string) {
  const verifier = openId.randomPKCECodeVerifier();
  const pending = { state: openId.randomState(), nonce: openId.randomNonce(), verifier, redirectUri };
  const url = openId.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: "openid email",
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await openId.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  return { url: url.href, pending };
}

async function finish(
  openId: Library,
  config: OpenId.Configuration,
  answer: string,
  { state, nonce, verifier, redirectUri }: PendingSignIn,
): Promise<ProviderIdentity> {
  const url = new URL(redirectUri);
  url.search = answer;
  const tokens = await openId.authorizationCodeGrant(config, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new AnswerRefused("The provider's answer names nobody. Begin again.");
  const { iss: issuer, sub: subject } = claims;
  // Many providers leave the address out of the token.
  const asked =
    claims.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined
      ? await openId.fetchUserInfo(config, tokens.access_token, subject)
      : claims;
  const { email, email_verified: isVerified } = asked;
  return { issuer, subject, email: typeof email === "string" ? email : null, isVerified: isVerified === true };
}

function failureOf({ name }: ProviderSettings, error: unknown): Error {
  if (error instanceof AnswerRefused) return error;
  const obstacle = obstacleIn(error);
  if (obstacle !== null) {
    return new ProviderUnavailable(`${name} ${obstacle}. Sign in with your password, or try again later.`);
  }
  if (isDenial(error)) {
    return new AnswerRefused(`You did not sign in at ${name}. Begin again, or use your password here.`);
  }
  return new AnswerRefused(
    `The answer of ${name} was not accepted: it is wrong, too old, or was used before. Begin again.`,
  );
}

/** Whether two texts name the same provider: the library compares them in this way, too. */
export const isSameIssuer = (one: string, other: string): boolean => hrefOf(one) === hrefOf(other);

const hrefOf = (issuer: string): string => (URL.canParse(issuer) ? new URL(issuer).href : issuer);

/**
 * Why nobody can sign in through the provider, in a part of a sentence; null: people can. An exchange of a code that does not exist
 * shows whether the provider knows the client.
 */
export async function examineProvider(settings: ProviderSettings): Promise<string | null> {
  const openId = await library();
  try {
    const config = configurationOf(openId, settings, await discover(openId, settings));
    await begin(openId, config, settings.issuer);
    const url = new URL(`${settings.issuer}?code=none&iss=${encodeURIComponent(config.serverMetadata().issuer)}`);
    await openId.authorizationCodeGrant(config, url, { pkceCodeVerifier: openId.randomPKCECodeVerifier() });
    return null;
  } catch (error) {
    if (error instanceof Error && "error" in error && error.error === "invalid_grant") return null;
    return obstacleIn(error) ?? `gives an unexpected answer (${wordsOf(error)})`;
  }
}
