import { Alert, Modal, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { answerOf, api } from "../api/client.ts";
import { ApiFailure } from "../api/failure.ts";
import { mayChange, useSignedIn } from "../api/session.ts";
import { texts } from "../texts.ts";
import { ActionButton } from "./ActionButton.tsx";
import { Failure } from "./Failure.tsx";

const at = texts.site;

/** Opens WordPress's administration in a new window, logged in. Offers to add the person first if WordPress does not know them. */
export function LogInButton({ environmentId }: { readonly environmentId: string }) {
  const { isPending, start, problem } = useLogIn(environmentId);
  return (
    <Stack align="start" gap="xs">
      <ActionButton loading={isPending} reason={mayChange(useSignedIn()) ? null : texts.needsRole} onClick={start}>
        {at.logIn}
      </ActionButton>
      <Text size="sm" c="dimmed">
        {at.logInHint}
      </Text>
      <Problem {...problem} />
    </Stack>
  );
}

interface LogInOfSiteProps {
  readonly environmentId: string;
  readonly siteName: string;
}

/** The same as a small button of a list. A problem opens a dialog. */
export function LogInOfSite({ environmentId, siteName }: LogInOfSiteProps) {
  const { isPending, start, reset, problem } = useLogIn(environmentId);
  return (
    <>
      <ActionButton
        size="compact-sm"
        variant="default"
        loading={isPending}
        reason={mayChange(useSignedIn()) ? null : texts.needsRole}
        aria-label={texts.wpAdmin.openNamed(siteName)}
        onClick={start}
      >
        {texts.wpAdmin.open}
      </ActionButton>
      <Modal
        opened={problem.error !== null || problem.isAdded}
        onClose={reset}
        title={texts.wpAdmin.openNamed(siteName)}
        closeButtonProps={{ "aria-label": texts.close }}
      >
        <Stack align="start">
          <Problem {...problem} />
          {problem.isAdded && <ActionButton onClick={start}>{at.logIn}</ActionButton>}
        </Stack>
      </Modal>
    </>
  );
}

function useLogIn(environmentId: string) {
  const session = useSignedIn();
  const email = session?.user.email ?? "";
  const params = { path: { env_id: environmentId } };
  const logIn = useMutation({
    mutationFn: async (window: Window | null) => {
      if (window === null) throw new Error(at.blocked);
      try {
        const call = api.POST("/sites/environments/{env_id}/wpa-login-url", { params, body: { email } });
        const { login_link: link } = await answerOf(call);
        window.location.replace(link);
      } catch (error) {
        window.close();
        throw error;
      }
    },
  });
  const adding = useMutation({
    mutationFn: () => {
      const body = { email, first_name: session?.user.first_name ?? "" };
      return answerOf(api.POST("/sites/environments/{env_id}/wpa-create-user", { params, body }));
    },
    onSuccess: logIn.reset,
  });
  const isUnknown = logIn.error instanceof ApiFailure && logIn.error.code === "wordpress_user_missing";
  return {
    isPending: logIn.isPending,
    // The window has to be opened by the click itself: browsers block those that open later.
    start: () => logIn.mutate(openWindow()),
    reset: () => {
      logIn.reset();
      adding.reset();
    },
    problem: {
      error: logIn.error ?? adding.error,
      email,
      isUnknown,
      isAdding: adding.isPending,
      isAdded: adding.isSuccess && !isUnknown,
      add: () => adding.mutate(),
    },
  };
}

type ProblemProps = ReturnType<typeof useLogIn>["problem"];

/** Why the login did not succeed, and what to do. */
function Problem({ error, email, isUnknown, isAdding, isAdded, add }: ProblemProps) {
  return (
    <>
      <Failure error={error} />
      {isUnknown && (
        <>
          <ActionButton variant="default" loading={isAdding} onClick={add}>
            {at.addMe}
          </ActionButton>
          <Text size="sm">{at.addMeHint(email)}</Text>
        </>
      )}
      {isAdded && <Alert role="status">{at.added}</Alert>}
    </>
  );
}

/** The site must not get a reference to the console. */
function openWindow(): Window | null {
  const opened = window.open("about:blank", "_blank");
  if (opened !== null) opened.opener = null;
  return opened;
}
