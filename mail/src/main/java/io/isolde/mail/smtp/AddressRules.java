// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import io.isolde.mail.login.MailLogins;
import org.apache.james.core.MailAddress;
import org.apache.james.core.MaybeSender;
import org.apache.james.protocols.smtp.SMTPSession;
import org.apache.james.protocols.smtp.hook.HookResult;
import org.apache.james.protocols.smtp.hook.HookReturnCode;
import org.apache.james.protocols.smtp.hook.MailHook;
import org.apache.james.protocols.smtp.hook.RcptHook;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who may write to whom: anybody to users of this server, and nobody to others, since nothing is
 * sent on. Who has logged in writes under the own address.
 */
final class AddressRules implements MailHook, RcptHook {
  private static final Logger log = LoggerFactory.getLogger(AddressRules.class);

  private final MailLogins logins;

  AddressRules(MailLogins logins) {
    this.logins = logins;
  }

  @Override
  public HookResult doMail(SMTPSession session, MaybeSender sender) {
    if (session.getUsername() == null || sender.isNullSender()) {
      return HookResult.DECLINED;
    }
    String own = logins.address(session.getUsername().asString());
    return logins.address(sender.asString("")).equals(own)
        ? HookResult.DECLINED
        : deny("553", "5.7.1 You are logged in as " + own);
  }

  @Override
  public HookResult doRcpt(SMTPSession session, MaybeSender sender, MailAddress recipient) {
    String address = recipient.asString();
    try {
      if (logins.isUser(address)) {
        return HookResult.DECLINED;
      }
    } catch (RuntimeException e) {
      log.error("Whether {} is a user is not known", address, e);
      return HookResult.builder()
          .hookReturnCode(HookReturnCode.denySoft())
          .smtpReturnCode("451")
          .smtpDescription("4.3.0 The list of users can't be read, try again later")
          .build();
    }
    return recipient.getDomain().asString().equalsIgnoreCase(logins.domain())
        ? deny("550", "5.1.1 There is no user " + address)
        : deny("550", "5.7.1 This server takes mail for its own users only");
  }

  private static HookResult deny(String code, String text) {
    return HookResult.builder()
        .hookReturnCode(HookReturnCode.deny())
        .smtpReturnCode(code)
        .smtpDescription(text)
        .build();
  }
}
