/**
 * What an operation is: a list of named steps, each with its undo beside it.
 *
 * Two rules make this sound. A step takes its identity from its input, an id and never "what the last try
 * made", so that running it twice is running it once. An undo tolerates that its step never happened, because
 * a step may have begun without ending. Everything that can fail stands before the point of no return;
 * after it an operation only goes forward.
 *
 * The name of a step is recorded and outlives the process that ran it. A released list of steps is never
 * reordered, and none is put in or taken out: register a new kind and keep the old one until it has drained.
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
  /** Aborted when the step's deadline has passed. */
  readonly signal: AbortSignal;
}

/** What is left of the context when the operation ends. */
export type EndContext<Input> = Omit<StepContext<Input>, "signal" | "secret">;

/**
 * What a failure says of what was to be done. `refused`: it was looked at and is not good, so that trying it again would come to the
 * same. `superseded`: somebody else has done it, or taken away what it was about. Null: nothing.
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
  /** Name of the first step that can't be taken back; absent if every step can. */
  readonly pointOfNoReturn?: string;
  /** Part of the transaction that ends the operation well; gives `data.result`. */
  succeeded(transaction: DatabaseTransaction, context: EndContext<Input>): Promise<Json>;
  /** Part of the transaction that ends it badly, after every undo. */
  failed(transaction: DatabaseTransaction, context: EndContext<Input>, kind: FailureKind): Promise<void>;
  /** Part of the same: `data.result` of an operation that has failed. Absent: there is none. */
  keptOfFailure?(transaction: DatabaseTransaction, context: EndContext<Input>): Promise<Json>;
}

/** A definition whose input only itself knows. */
export type AnyDefinition = OperationDefinition<Json>;

interface StepFailureFacts {
  readonly isTransient?: boolean;
  readonly kind?: FailureKind;
}

/**
 * A failure whose message the customer may read. Anything else that a step throws is logged under the
 * operation's reference id and shown as a general sentence.
 */
export class StepFailure extends Error {
  override readonly name = "StepFailure";
  /** Whether the same step may succeed in a moment without anybody changing anything. */
  readonly isTransient: boolean;
  readonly kind: FailureKind;
  constructor(publicMessage: string, options: ErrorOptions & StepFailureFacts = {}) {
    super(publicMessage, options);
    this.isTransient = options.isTransient ?? false;
    this.kind = options.kind ?? null;
  }
}
