/**
 * The definition of an operation: a list of named steps, each with its undo.
 *
 * Three rules make operations safe to resume and to undo:
 * - Steps are idempotent. They take ids from their input and never depend on the result of an earlier try.
 * - An undo works even if its step never ran or stopped halfway.
 * - Every step that can fail comes before the point of no return. After it, steps are retried until they succeed.
 *
 * The names of steps are stored in the database and outlive the process. Never reorder, add or remove steps of a
 * released operation: register a new kind, and keep the old one until no operation of it is left.
 */
import type { DatabaseTransaction, Json } from "../../store/database.ts";

export interface StepContext<Input> {
  readonly operationId: string;
  readonly companyId: string;
  readonly siteId: string | null;
  readonly environmentId: string | null;
  readonly input: Input;
  /** Decrypts the operation's secret. Throws if it has none. */
  secret(): string;
  /** Aborted at the step's deadline. */
  readonly signal: AbortSignal;
}

/** The context when the operation ends. */
export type EndContext<Input> = Omit<StepContext<Input>, "signal" | "secret">;

/**
 * Tells what a failure means for the request. `refused`: it was checked and rejected, so a retry would fail again.
 * `superseded`: someone else has done it, or has removed its subject. Null: unknown.
 */
export type FailureKind = "refused" | "superseded" | null;

export interface Step<Input> {
  readonly name: string;
  readonly deadlineSeconds: number;
  run(context: StepContext<Input>): Promise<void>;
  /** Absent if the step leaves nothing behind. */
  undo?(context: StepContext<Input>): Promise<void>;
}

export interface OperationDefinition<Input extends Json> {
  readonly kind: string;
  readonly steps: readonly Step<Input>[];
  /**
   * Name of the first step that uses much of the machine. Only some operations are past it at the same time; companies take
   * turns. It must not come after writes are frozen. Absent if no step does.
   */
  readonly turnFrom?: string;
  /** Name of the first step that can't be undone. Absent if all steps can be. */
  readonly pointOfNoReturn?: string;
  /** Runs in the transaction that ends a successful operation. Returns `data.result`. */
  succeeded(transaction: DatabaseTransaction, context: EndContext<Input>): Promise<Json>;
  /** Runs in the transaction that ends a failed operation, after all undos. */
  failed(transaction: DatabaseTransaction, context: EndContext<Input>, kind: FailureKind): Promise<void>;
  /** Runs in the same transaction as `failed`. Returns `data.result`, which is null if this is absent. */
  failureResult?(transaction: DatabaseTransaction, context: EndContext<Input>): Promise<Json>;
}

/** A definition whose type of input is not known to the engine. */
export type AnyDefinition = OperationDefinition<Json>;

interface StepFailureOptions {
  readonly isTransient?: boolean;
  readonly kind?: FailureKind;
}

/**
 * An error whose message is shown to users. All other errors of steps are logged under the operation's reference id,
 * and users see a general sentence.
 */
export class StepFailure extends Error {
  override readonly name = "StepFailure";
  /** Whether a retry of the same step may succeed. */
  readonly isTransient: boolean;
  readonly kind: FailureKind;
  constructor(publicMessage: string, options: ErrorOptions & StepFailureOptions = {}) {
    super(publicMessage, options);
    this.isTransient = options.isTransient ?? false;
    this.kind = options.kind ?? null;
  }
}
