/** An environment in the input of an operation. */
export type EnvironmentInput = {
  readonly id: string;
  readonly number: number;
  /** The company that work on its files counts towards. Absent in orders from before it did. */
  readonly companyId?: string;
};
