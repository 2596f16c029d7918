// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import io.isolde.mail.login.MailLogins;
import org.apache.james.core.Username;
import org.apache.james.protocols.api.OidcSASLConfiguration;
import org.apache.james.protocols.smtp.SMTPSession;
import org.apache.james.protocols.smtp.hook.AuthHook;
import org.apache.james.protocols.smtp.hook.HookResult;
import org.apache.james.protocols.smtp.hook.HookReturnCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** AUTH PLAIN and AUTH LOGIN. */
final class SmtpLogin implements AuthHook {
  private static final Logger log = LoggerFactory.getLogger(SmtpLogin.class);

  private final MailLogins logins;
  private final SmtpSettings settings;

  SmtpLogin(MailLogins logins, SmtpSettings settings) {
    this.logins = logins;
    this.settings = settings;
  }

  @Override
  public HookResult doAuth(SMTPSession session, Username name, String password) {
    if (!session.isTLSStarted() && !settings.isClearAllowed()) {
      return answer(HookReturnCode.deny(), "538", "5.7.11 Say STARTTLS first");
    }
    try {
      return switch (logins.check(
          name.asString(), password, session.getRemoteAddress().getAddress())) {
        case WELCOME -> {
          session.setUsername(Username.of(logins.address(name.asString())));
          yield answer(HookReturnCode.ok(), "235", "2.7.0 Welcome");
        }
        case WRONG ->
            answer(HookReturnCode.deny(), "535", "5.7.8 The user or the password is wrong");
        case LATER -> answer(HookReturnCode.denySoft(), "454", "4.7.0 Try again later");
      };
    } catch (RuntimeException e) {
      log.error("The login of {} can't be checked", name.asString(), e);
      return answer(HookReturnCode.denySoft(), "454", "4.7.0 Try again later");
    }
  }

  @Override
  public HookResult doSasl(SMTPSession session, OidcSASLConfiguration oidc, String response) {
    return HookResult.DECLINED;
  }

  /** James asks this for AUTH PLAIN with a name and no password. */
  @Override
  public HookResult doDelegation(SMTPSession session, Username target) {
    return answer(HookReturnCode.deny(), "535", "5.7.8 A password is needed");
  }

  private static HookResult answer(HookReturnCode result, String code, String text) {
    return HookResult.builder()
        .hookReturnCode(result)
        .smtpReturnCode(code)
        .smtpDescription(text)
        .build();
  }
}
