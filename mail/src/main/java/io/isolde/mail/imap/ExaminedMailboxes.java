// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import org.apache.james.imap.api.ImapConfiguration;
import org.apache.james.imap.api.ImapMessage;
import org.apache.james.imap.api.display.HumanReadableText;
import org.apache.james.imap.api.message.FetchData;
import org.apache.james.imap.api.message.FetchData.Item;
import org.apache.james.imap.api.message.request.ImapRequest;
import org.apache.james.imap.api.message.response.StatusResponse.ResponseCode;
import org.apache.james.imap.api.process.ImapProcessor;
import org.apache.james.imap.api.process.ImapSession;
import org.apache.james.imap.message.request.AbstractMailboxSelectionRequest;
import org.apache.james.imap.message.request.CloseRequest;
import org.apache.james.imap.message.request.ExamineRequest;
import org.apache.james.imap.message.request.ExpungeRequest;
import org.apache.james.imap.message.request.FetchRequest;
import org.apache.james.imap.message.request.MoveRequest;
import org.apache.james.imap.message.request.ReplaceRequest;
import org.apache.james.imap.message.request.StoreRequest;
import org.apache.james.imap.message.request.UnselectRequest;
import org.apache.james.imap.message.response.UnpooledStatusResponseFactory;
import reactor.core.publisher.Mono;

/**
 * What a client has opened by EXAMINE, it does not change (RFC 3501, 6.3.2). James' commands do not
 * know how a mailbox was opened: a FETCH would mark messages as seen, and CLOSE remove some.
 */
final class ExaminedMailboxes implements ImapProcessor {
  private static final String IS_EXAMINED = "isolde-examined";
  private static final HumanReadableText REFUSAL =
      new HumanReadableText("isolde.examined", "failed. The mailbox was opened by EXAMINE.");

  private final ImapProcessor commands;

  ExaminedMailboxes(ImapProcessor commands) {
    this.commands = commands;
  }

  @Override
  public void configure(ImapConfiguration configuration) {
    commands.configure(configuration);
  }

  @Override
  public Mono<Void> processReactive(ImapMessage message, Responder responder, ImapSession session) {
    if (message instanceof AbstractMailboxSelectionRequest) {
      session.setAttribute(IS_EXAMINED, message instanceof ExamineRequest);
    } else if (Boolean.TRUE.equals(session.getAttribute(IS_EXAMINED))) {
      if (isChange(message)) {
        refuse((ImapRequest) message, responder);
        return Mono.empty();
      }
      return commands.processReactive(withoutChange(message), responder, session);
    }
    return commands.processReactive(message, responder, session);
  }

  private static boolean isChange(ImapMessage message) {
    return message instanceof StoreRequest
        || message instanceof ExpungeRequest
        || message instanceof MoveRequest
        || message instanceof ReplaceRequest;
  }

  private static void refuse(ImapRequest request, Responder responder) {
    responder.respond(
        new UnpooledStatusResponseFactory()
            .taggedNo(request.getTag(), request.getCommand(), REFUSAL, ResponseCode.readOnly()));
    responder.flush();
  }

  private static ImapMessage withoutChange(ImapMessage message) {
    if (message instanceof CloseRequest close) {
      return new UnselectRequest(close.getTag());
    }
    return message instanceof FetchRequest fetch && fetch.getFetch().isSetSeen()
        ? new FetchRequest(
            fetch.isUseUids(), fetch.getIdSet(), peeking(fetch.getFetch()), fetch.getTag())
        : message;
  }

  private static FetchData peeking(FetchData asked) {
    FetchData.Builder peeking = FetchData.builder();
    for (Item item : Item.values()) {
      if (asked.contains(item)) {
        peeking.fetch(item);
      }
    }
    asked.getBodyElements().forEach(element -> peeking.add(element, true));
    return peeking.changedSince(asked.getChangedSince()).vanished(asked.getVanished()).build();
  }
}
