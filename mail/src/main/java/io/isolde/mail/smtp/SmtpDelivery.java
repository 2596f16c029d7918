// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import io.isolde.mail.delivery.DeliveryFailedException;
import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.login.MailLogins;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.apache.james.core.MailAddress;
import org.apache.james.mailbox.model.Content;
import org.apache.james.protocols.smtp.MailEnvelope;
import org.apache.james.protocols.smtp.SMTPSession;
import org.apache.james.protocols.smtp.hook.HookResult;
import org.apache.james.protocols.smtp.hook.HookReturnCode;
import org.apache.james.protocols.smtp.hook.MessageHook;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts a message into the inbox of each recipient, and only then is it taken. */
final class SmtpDelivery implements MessageHook {
  private static final Logger log = LoggerFactory.getLogger(SmtpDelivery.class);

  private final InboxDelivery delivery;
  private final MailLogins logins;

  SmtpDelivery(InboxDelivery delivery, MailLogins logins) {
    this.delivery = delivery;
    this.logins = logins;
  }

  @Override
  public HookResult onMessage(SMTPSession session, MailEnvelope envelope) {
    Set<String> recipients = new LinkedHashSet<>();
    for (MailAddress recipient : envelope.getRecipients()) {
      recipients.add(logins.address(recipient.asString()));
    }
    Optional<byte[]> digest = ReceivingFilter.digest(session);
    try {
      Content message = content(envelope);
      String sender = envelope.getMaybeSender().asString("");
      for (String recipient : recipients) {
        delivery.deliver(recipient, sender, message, digest);
      }
    } catch (DeliveryFailedException e) {
      log.error("A message for {} is not delivered to all of them", recipients, e);
      return HookResult.builder()
          .hookReturnCode(HookReturnCode.denySoft())
          .smtpReturnCode("451")
          .smtpDescription("4.3.0 The message is not in all mailboxes, try again later")
          .build();
    }
    return HookResult.builder()
        .hookReturnCode(HookReturnCode.ok())
        .smtpReturnCode("250")
        .smtpDescription("2.0.0 The message is in the mailbox of each recipient")
        .build();
  }

  /** The message as it has been received, and no copy of it. */
  private static Content content(MailEnvelope envelope) {
    return new Content() {
      @Override
      public InputStream getInputStream() throws IOException {
        return envelope.getMessageInputStream();
      }

      @Override
      public long size() {
        return envelope.getSize();
      }
    };
  }
}
