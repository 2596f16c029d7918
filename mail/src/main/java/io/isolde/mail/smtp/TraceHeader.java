// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.List;
import org.apache.james.protocols.api.ProtocolSession.State;
import org.apache.james.protocols.smtp.SMTPSession;
import org.apache.james.protocols.smtp.core.ReceivedDataLineFilter;

/** The header Received. James' own asks the name service for the client, which may take long. */
final class TraceHeader extends ReceivedDataLineFilter {

  @Override
  protected Collection<Header> headers(SMTPSession session) {
    String mode = session.getAttachment(SMTPSession.CURRENT_HELO_MODE, State.Connection).orElse("");
    String name = session.getAttachment(SMTPSession.CURRENT_HELO_NAME, State.Connection).orElse("");
    Header header =
        new Header(
            "Received",
            "from %s ([%s])"
                .formatted(
                    printable(name), session.getRemoteAddress().getAddress().getHostAddress()));
    header.add(
        "by %s (%s) with %s ID %s;"
            .formatted(
                session.getConfiguration().getHelloName(),
                session.getConfiguration().getSoftwareName(),
                service(session, mode),
                session.getSessionID()));
    header.add(DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)));
    return List.of(header);
  }

  /** As RFC 3848 names them. */
  private static String service(SMTPSession session, String mode) {
    if (!mode.equals("EHLO")) {
      return "SMTP";
    }
    return "ESMTP"
        + (session.isTLSStarted() ? "S" : "")
        + (session.getUsername() == null ? "" : "A");
  }

  /** The client says its name as it likes, and it is to stay within its header. */
  private static String printable(String name) {
    String text = name.replaceAll("[^\\x21-\\x7e]", "?");
    return text.isEmpty() ? "unknown" : text.substring(0, Math.min(text.length(), 255));
  }
}
