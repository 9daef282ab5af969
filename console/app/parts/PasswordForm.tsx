import { PasswordInput, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { answerOf, api } from "../api/client.ts";
import { ApiFailure } from "../api/failure.ts";
import { sessionKey } from "../api/session.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { Failure } from "./Failure.tsx";
import { useApiForm } from "./useApiForm.ts";

/** Changes the password of the person who has signed in. `email`: for password managers, which look for it in the form. */
export function PasswordForm({ email, done }: { readonly email: string; readonly done: () => void }) {
  const client = useQueryClient();
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { current_password: "", new_password: "", again: "" },
    send: ({ again, ...body }) => {
      if (again === body.new_password) return answerOf(api.PUT("/session/password", { body }));
      const errors = [{ path: "/again", message: texts.password.different }];
      throw new ApiFailure(400, { message: texts.password.different, data: { errors } });
    },
    done: (signedIn, { reset }) => {
      reset();
      client.setQueryData(sessionKey, signedIn);
      void client.invalidateQueries({ queryKey: ["sessions"] });
      done();
    },
    fields: { wrong_credentials: "current_password", password_too_weak: "new_password" },
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Failure error={error} />
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label={texts.password.current}
          autoComplete="current-password"
          {...form.getInputProps("current_password")}
        />
        <PasswordInput
          label={texts.password.next}
          autoComplete="new-password"
          {...form.getInputProps("new_password")}
        />
        <PasswordInput label={texts.password.again} autoComplete="new-password" {...form.getInputProps("again")} />
        <ActionButton type="submit" loading={isSending} style={{ alignSelf: "start" }}>
          {texts.password.submit}
        </ActionButton>
      </Stack>
    </form>
  );
}
