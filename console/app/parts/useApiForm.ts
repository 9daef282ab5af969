/** A form whose values are sent to the API, and whose fields show the API's errors. */
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { ApiFailure, textAt } from "../api/failure.ts";

interface ApiFormOptions<Values extends Record<string, unknown>, Result> {
  readonly initialValues: Values;
  readonly send: (values: Values) => Promise<Result>;
  readonly done?: (result: Result, form: UseFormReturnType<Values>) => void;
  /** The field that a refusal is about, by its code, unless the refusal names it. */
  readonly fields?: Readonly<Record<string, keyof Values & string>>;
}

export function useApiForm<Values extends Record<string, unknown>, Result>({
  initialValues,
  send,
  done,
  fields = {},
}: ApiFormOptions<Values, Result>) {
  const form = useForm<Values>({ mode: "controlled", initialValues });
  const mutation = useMutation({
    mutationFn: send,
    onSuccess: (result) => done?.(result, form),
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  const errorsOf = (error: Error): Record<string, string> => {
    if (!(error instanceof ApiFailure)) return {};
    const field = fields[error.code ?? ""] ?? textAt(error.data, "field");
    if (field !== null) return { [field]: error.message };
    return Object.fromEntries(error.faults.map(({ path, message }) => [fieldAt(path), sentence(message)]));
  };
  /** The field that a JSON pointer leads to or through, or else the pointer's first part. */
  const fieldAt = (path: string): string => {
    const parts = path.split("/");
    return parts.find((part) => part in initialValues) ?? parts[1] ?? "";
  };
  const found = mutation.error === null ? {} : errorsOf(mutation.error);
  const isShown = Object.keys(found).length > 0 && Object.keys(found).every((name) => name in initialValues);
  return {
    form,
    isSending: mutation.isPending,
    /** Whether the last attempt succeeded. */
    isDone: mutation.isSuccess,
    /** An error that no field shows. */
    error: isShown ? null : mutation.error,
    submit: form.onSubmit((values) => mutation.mutate(values)),
  };
}

/** The API's messages follow the name of a field: `must be an e-mail address`. */
const sentence = (message: string): string => message.charAt(0).toUpperCase() + message.slice(1);
