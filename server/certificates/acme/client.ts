/**
 * A client for ACME (RFC 8555). Every method rejects with `AcmeProblem` if the authority refuses, and with
 * `AcmeUnreachable` if it does not answer.
 */
import { createPrivateKey } from "node:crypto";
import type * as v from "valibot";
import { AcmeProblem, AcmeUnreachable } from "./problems.ts";
import { type AcmeResponse, send } from "./request.ts";
import {
  type Authorization,
  authorization,
  directory,
  type Order,
  order,
  problemOf,
  read,
  waitOf,
} from "./responses.ts";
import { type AccountBinding, bindAccount, keyAuthorization, signRequest } from "./signing.ts";

/** A resource, and how long to wait before reading it again (ms); null if the authority doesn't say. */
export interface Read<Value> {
  readonly value: Value;
  readonly wait: number | null;
}

export interface Acme {
  /**
   * Returns the URL of the account for this key, creating it if needed. `binding` is null unless the authority needs
   * one.
   */
  openAccount(email: string | null, binding: AccountBinding | null): Promise<string>;
  newOrder(account: string, names: readonly string[]): Promise<{ readonly url: string; readonly order: Order }>;
  readOrder(account: string, url: string): Promise<Read<Order>>;
  readAuthorization(account: string, url: string): Promise<Read<Authorization>>;
  /** The key authorization to serve for a token. */
  contentFor(token: string): string;
  /** Tells the authority that the challenge is ready. */
  beginChallenge(account: string, url: string): Promise<void>;
  finalize(account: string, url: string, request: Buffer): Promise<void>;
  /** PEM, the leaf certificate first. */
  readChain(account: string, url: string): Promise<string>;
}

interface AcmeOptions {
  /** The directory's URL. */
  readonly directory: string;
  /** PEM of the roots to trust; null for Node's default. */
  readonly roots: readonly string[] | null;
  /** PEM, PKCS#8, P-256. */
  readonly accountKey: string;
  readonly signal: AbortSignal;
}

/** Authorities may reject a nonce that they have just issued; the next one usually works. */
const maxNonces = 10;

export function openAcme({ directory: address, roots, accountKey, signal }: AcmeOptions): Acme {
  const key = createPrivateKey(accountKey);
  const nonces: string[] = [];
  let links: Promise<v.InferOutput<typeof directory>> | undefined;

  async function readDirectory() {
    const response = await send({ url: address, method: "GET", roots, signal });
    if (response.status !== 200) throw problemOf(response, new Date());
    return read(directory, response);
  }

  /** Cached after the first success. */
  function findLinks() {
    links ??= readDirectory().catch((error: unknown) => {
      links = undefined;
      throw error;
    });
    return links;
  }

  async function takeNonce(): Promise<string> {
    const unused = nonces.pop();
    if (unused !== undefined) return unused;
    const { newNonce } = await findLinks();
    const nonce = (await send({ url: newNonce, method: "HEAD", roots, signal })).header("replay-nonce");
    if (nonce === null) throw new AcmeUnreachable("The certificate authority sent no nonce.");
    return nonce;
  }

  async function post(account: string | null, url: string, payload: object | null): Promise<AcmeResponse> {
    for (let used = 1; ; used++) {
      const body = signRequest({ key, account, nonce: await takeNonce(), url, payload });
      const response = await send({ url, method: "POST", body, roots, signal });
      const fresh = response.header("replay-nonce");
      if (fresh !== null) nonces.push(fresh);
      if (response.status < 400) return response;
      const problem = problemOf(response, new Date());
      if (problem.type !== "badNonce" || used >= maxNonces) throw problem;
    }
  }

  async function readAt<Schema extends v.GenericSchema>(schema: Schema, account: string, url: string) {
    const response = await post(account, url, null);
    return { value: read(schema, response), wait: waitOf(response, new Date()) };
  }

  return {
    openAccount: async (email, binding) => {
      const { newAccount } = await findLinks();
      const contact = email === null ? {} : { contact: [`mailto:${email}`] };
      const bound = binding === null ? {} : { externalAccountBinding: bindAccount(key, newAccount, binding) };
      return locationOf(await post(null, newAccount, { termsOfServiceAgreed: true, ...contact, ...bound }));
    },
    newOrder: async (account, names) => {
      const { newOrder } = await findLinks();
      const identifiers = names.map((value) => ({ type: "dns", value }));
      const response = await post(account, newOrder, { identifiers });
      return { url: locationOf(response), order: read(order, response) };
    },
    readOrder: (account, url) => readAt(order, account, url),
    readAuthorization: (account, url) => readAt(authorization, account, url),
    contentFor: (token) => keyAuthorization(token, key),
    beginChallenge: async (account, url) => {
      await post(account, url, {});
    },
    finalize: async (account, url, request) => {
      await post(account, url, { csr: request.toString("base64url") });
    },
    readChain: async (account, url) => (await post(account, url, null)).text,
  };
}

function locationOf(response: AcmeResponse): string {
  const url = response.header("location");
  if (url === null) throw new AcmeUnreachable("The certificate authority sent no Location of what it created.");
  return url;
}

/** Whether the authority no longer knows the resource. */
export function isUnknownResource(error: unknown): boolean {
  return error instanceof AcmeProblem && (error.status === 404 || error.type === "malformed");
}

/** Whether the authority doesn't know the account: it belongs to another authority, or the authority was reset. */
export function isUnknownAccount(error: unknown): boolean {
  return error instanceof AcmeProblem && error.type === "accountDoesNotExist";
}
