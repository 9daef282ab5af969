/**
 * Where WordPress runs: what every runtime offers, and nothing about how it does so.
 *
 * A runtime has two faces, because they live in different processes. `Runtime` makes and removes
 * environments; the control process calls it from the steps of operations, so every method is
 * idempotent and takes its identity from its input. `Serving` answers visitors' requests that need
 * PHP; the edge process owns it, so that sites keep answering while the control process is away.
 *
 * `conformance.ts` says in tests what this page says in words. Every runtime passes it.
 */
import type { Readable } from "node:stream";

export type MultisiteKind = "subdirectory" | "subdomain";

/** What a runtime can do, as data: the control plane asks here instead of knowing runtimes by name. */
export interface Capabilities {
  /** Versions of the form `8.3`, ascending. */
  readonly phpVersions: readonly string[];
  readonly defaultPhpVersion: string;
  /** Locales that can be installed, `en_US` among them. */
  readonly locales: readonly string[];
  readonly multisite: readonly MultisiteKind[];
}

/** How an environment is known to a runtime. `number` is unique on this installation and never reused. */
export interface EnvironmentRef {
  readonly id: string;
  readonly number: number;
}

/** A WordPress to be installed. Every text is what the person typed; the runtime escapes it for where it stores it. */
export interface WordPressInstall {
  /** Scheme, host and, where it is not the scheme's own, port: `http://demo.localhost:8081`. No final slash. */
  readonly address: string;
  readonly title: string;
  readonly adminUser: string;
  readonly adminEmail: string;
  /** Made by `passwordDigest` in `runtimes/password.ts`: the password itself never gets this far. */
  readonly adminPasswordDigest: string;
  /** One of `Capabilities.locales`. */
  readonly locale: string;
  readonly multisite: MultisiteKind | null;
}

export interface ProvisionSpec {
  readonly environment: EnvironmentRef;
  readonly phpVersion: string;
  readonly wordpress: WordPressInstall;
}

/** What the edge must know to serve an environment from disk and through PHP. */
export interface EnvironmentLayout {
  /** Rises with each switch of `current`; a worker serves one release only. */
  readonly release: number;
  /** Absolute path of the web root of that release, symbolic links resolved. */
  readonly documentRoot: string;
  /** Folders of the web root that are served from elsewhere: `{ "wp-admin": "/…/wp-admin" }`. */
  readonly overlays: Readonly<Record<string, string>>;
  readonly multisite: MultisiteKind | null;
}

/** Why a runtime could not do what was asked. `message` may be shown to the customer; `cause` is for the log. */
export class RuntimeFailure extends Error {
  override readonly name = "RuntimeFailure";
}

export type Progress = (update: {
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
}) => void;

export interface Runtime {
  readonly name: string;
  /** Fetches, verifies and unpacks whatever the runtime needs. Resumes where an earlier call broke off. */
  prepare(progress: Progress): Promise<void>;
  /** Known only after `prepare` has succeeded at some time on this machine. */
  capabilities(): Promise<Capabilities>;
  /** Makes the environment whole or not at all; called again for the same id it completes and changes nothing else. */
  provision(spec: ProvisionSpec): Promise<{ readonly wordpressVersion: string }>;
  /** Takes the environment out of sight, so that it can still come back. Tolerates one that is absent or retired. */
  retire(environment: EnvironmentRef): Promise<void>;
  /** Undoes `retire`. Tolerates an environment that was never retired. */
  reinstate(environment: EnvironmentRef): Promise<void>;
  /** Removes the environment for good, retired or not. Tolerates one that is absent. */
  destroy(environment: EnvironmentRef): Promise<void>;
  /** Null where the environment is absent or retired. */
  layout(environment: EnvironmentRef): Promise<EnvironmentLayout | null>;
}

/** An environment as the serving side sees it: published as a whole list, replaced as a whole list. */
export interface ServedEnvironment extends EnvironmentRef, EnvironmentLayout {
  readonly phpVersion: string;
}

export interface PhpRequest {
  readonly method: string;
  /** Path and query as the visitor sent them. */
  readonly url: string;
  /** Path of the script below the web root, `/index.php` or `/wp-login.php`. */
  readonly script: string;
  /** What follows the script in the path (`PATH_INFO`), or the empty string. */
  readonly pathInfo: string;
  /** Lower-case names; as sent by the visitor, `host` included. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Readable | null;
  readonly remoteAddress: string;
  readonly https: boolean;
  /** True where PHP of this installation made the request: it is refused rather than made to wait for a worker. */
  readonly fromPhp: boolean;
  /** The visitor went away. */
  readonly signal: AbortSignal;
}

export interface PhpResponse {
  readonly status: number;
  /** Pairs in order, repeated names kept (`set-cookie`). */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Readable;
}

/** Why PHP gave no answer; the edge chooses the page. */
export type NoAnswerReason = "busy" | "deadline" | "crashed" | "unavailable";

export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly reason: NoAnswerReason;
  constructor(reason: NoAnswerReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface Serving {
  /** The whole list of environments that may run. Workers of any other, or of an older release, are ended. */
  setEnvironments(environments: readonly ServedEnvironment[]): Promise<void>;
  /** Rejects with `NoAnswer` only. */
  handle(environmentId: string, request: PhpRequest): Promise<PhpResponse>;
  /** Ends every worker. */
  close(): Promise<void>;
}
