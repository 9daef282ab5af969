import { Alert, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { answerOf, api } from "../../api/client.ts";
import { ApiFailure } from "../../api/failure.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { texts } from "../../texts.ts";

const at = texts.site;

/** Opens WordPress's administration in a new window, logged in. Offers to add the person first if WordPress does not know them. */
export function LogInButton({ environmentId }: { readonly environmentId: string }) {
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
  const addMe = useMutation({
    mutationFn: () => {
      const body = { email, first_name: session?.user.first_name ?? "" };
      return answerOf(api.POST("/sites/environments/{env_id}/wpa-create-user", { params, body }));
    },
    onSuccess: logIn.reset,
  });
  const isUnknown = logIn.error instanceof ApiFailure && logIn.error.code === "wordpress_user_missing";
  return (
    <Stack align="start" gap="xs">
      <ActionButton
        loading={logIn.isPending}
        reason={mayChange(session) ? null : texts.needsRole}
        // The window has to be opened by the click itself: browsers block those that open later.
        onClick={() => logIn.mutate(openWindow())}
      >
        {at.logIn}
      </ActionButton>
      <Text size="sm" c="dimmed">
        {at.logInHint}
      </Text>
      <Failure error={logIn.error ?? addMe.error} />
      {isUnknown && (
        <>
          <ActionButton variant="default" loading={addMe.isPending} onClick={() => addMe.mutate()}>
            {at.addMe}
          </ActionButton>
          <Text size="sm">{at.addMeHint(email)}</Text>
        </>
      )}
      {addMe.isSuccess && !isUnknown && <Alert role="status">{at.added}</Alert>}
    </Stack>
  );
}

/** The site must not get a reference to the console. */
function openWindow(): Window | null {
  const opened = window.open("about:blank", "_blank");
  if (opened !== null) opened.opener = null;
  return opened;
}
