// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.isolde.mail.login.MailLogins;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;

/**
 * Users may leave their domain out when they log in. James would take the short name for the owner
 * of other mailboxes, so it is made whole on the way to James' mailboxes.
 */
final class FullNames {
  private FullNames() {}

  static MailboxManager of(MailboxManager mailboxes, MailLogins logins) {
    return (MailboxManager)
        Proxy.newProxyInstance(
            MailboxManager.class.getClassLoader(),
            new Class<?>[] {MailboxManager.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("authenticate")) {
                Username user = (Username) arguments[0];
                arguments[0] = Username.of(logins.address(user.asString()));
              }
              try {
                return method.invoke(mailboxes, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
