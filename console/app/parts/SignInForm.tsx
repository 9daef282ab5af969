import { Anchor, Divider, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf, api, type Schemas } from "../api/client.ts";
import { ApiFailure } from "../api/failure.ts";
import {
  type NeededFactor,
  neededFactorIn,
  passkeyObstacle,
  signInOptionsQuery,
  signInWithPasskey,
  usedPasskey,
} from "../api/passkeys.ts";
import { type SignedIn, sessionKey } from "../api/session.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { CodeInput } from "./CodeInput.tsx";
import { Failure } from "./Failure.tsx";
import { useApiForm } from "./useApiForm.ts";

interface SignInFormProps {
  readonly done: (signedIn: SignedIn) => void;
  /** Other ways to sign in. */
  readonly children?: ReactNode;
}

/** E-mail address and password, and a second factor if the API asks for one; or a passkey alone. Starts a session. */
export function SignInForm({ done, children }: SignInFormProps) {
  const client = useQueryClient();
  const [needed, setNeeded] = useState<NeededFactor | null>(null);
  const finish = (signedIn: SignedIn) => {
    client.setQueryData(sessionKey, signedIn);
    done(signedIn);
  };
  const { form, isSending, error, submit } = useApiForm({
    initialValues: { email: "", password: "", code: "" },
    send: ({ code, ...body }) => signIn(needed?.hasCode === true && code !== "" ? { ...body, code } : body),
    done: (answer) => ("message" in answer ? setNeeded(answer) : finish(answer)),
    fields: { wrong_credentials: "password", wrong_code: "code" },
  });
  const { email, password } = form.values;
  const passkey = useMutation({
    mutationFn: async (options: Schemas["PasskeyRequest"]) =>
      signIn({ email, password, passkey: await usedPasskey(options) }),
    onSuccess: (answer) => ("message" in answer ? setNeeded(answer) : finish(answer)),
    // What the API has refused is used up. The next options come with the next answer.
    onError: (error) => error instanceof ApiFailure && setNeeded(null),
  });
  const options = needed?.passkey ?? null;
  return (
    <Stack>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Failure error={error ?? passkey.error} />
          <TextInput
            label={texts.signIn.email}
            type="email"
            autoComplete="username"
            data-autofocus
            {...form.getInputProps("email")}
          />
          <PasswordInput
            label={texts.signIn.password}
            autoComplete="current-password"
            {...form.getInputProps("password")}
          />
          {needed !== null && <Text size="sm">{needed.message}</Text>}
          {options !== null && (
            <ActionButton loading={passkey.isPending} onClick={() => passkey.mutate(options)}>
              {texts.passkeys.use}
            </ActionButton>
          )}
          {needed?.hasCode === true && (
            <CodeInput
              label={texts.secondFactor.code}
              description={texts.secondFactor.signInHint}
              {...form.getInputProps("code")}
            />
          )}
          {(needed === null || needed.hasCode) && (
            <ActionButton type="submit" loading={isSending} variant={options === null ? "filled" : "default"}>
              {texts.signIn.submit}
            </ActionButton>
          )}
        </Stack>
      </form>
      {needed === null && <PasskeyAlone done={finish} />}
      {needed === null && children}
      <Anchor component={Link} to="/forgotten-password" size="sm">
        {texts.signIn.forgotten}
      </Anchor>
    </Stack>
  );
}

function PasskeyAlone({ done }: { readonly done: (signedIn: SignedIn) => void }) {
  const found = useQuery(signInOptionsQuery);
  const mutation = useMutation({ mutationFn: signInWithPasskey, onSuccess: done });
  return (
    <>
      <Divider label={texts.passkeys.or} labelPosition="center" />
      <Failure error={found.error} retry={() => void found.refetch()} />
      <Failure error={mutation.error} />
      <ActionButton
        variant="default"
        reason={passkeyObstacle(found)}
        loading={mutation.isPending}
        onClick={() => mutation.mutate()}
      >
        {texts.passkeys.signIn}
      </ActionButton>
    </>
  );
}

/** Signs in, or says what is needed besides the right password. */
async function signIn(body: Schemas["SignIn"]): Promise<SignedIn | NeededFactor> {
  try {
    return await answerOf(api.POST("/sessions", { body }));
  } catch (error) {
    const needed = neededFactorIn(error);
    if (needed !== null) return needed;
    throw error;
  }
}
