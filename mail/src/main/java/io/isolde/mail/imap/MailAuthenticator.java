// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.isolde.mail.login.MailLogins;
import java.util.function.Supplier;
import org.apache.james.core.Username;
import org.apache.james.mailbox.Authenticator;
import org.apache.james.mailbox.Authorizator;
import org.apache.james.mailbox.exception.MailboxException;

/** Passwords for James' mailbox manager, which IMAP asks. Nobody acts as another user. */
public final class MailAuthenticator implements Authenticator, Authorizator {
  private final Supplier<MailLogins> logins;

  /**
   * Asks logins.
   *
   * @param logins which there may be later than this
   */
  public MailAuthenticator(Supplier<MailLogins> logins) {
    this.logins = logins;
  }

  @Override
  public boolean isAuthentic(Username user, CharSequence password) throws MailboxException {
    try {
      return switch (logins
          .get()
          .check(user.asString(), password.toString(), ClientAddress.current())) {
        case WELCOME -> true;
        case WRONG -> false;
        case LATER -> throw new MailboxException("Too many logins, try again later");
      };
    } catch (RuntimeException e) {
      throw new MailboxException("The password can't be checked", e);
    }
  }

  @Override
  public AuthorizationState canLoginAsOtherUser(Username user, Username other) {
    return AuthorizationState.FORBIDDEN;
  }
}
