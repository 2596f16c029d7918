// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.isolde.mail.connection.Workers;
import org.apache.james.imap.api.ImapConfiguration;
import org.apache.james.imap.api.ImapMessage;
import org.apache.james.imap.api.process.ImapProcessor;
import org.apache.james.imap.api.process.ImapSession;
import org.reactivestreams.Subscriber;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** James' processor of commands, on threads that may wait. */
final class WorkerProcessor implements ImapProcessor {
  private static final Logger log = LoggerFactory.getLogger(WorkerProcessor.class);

  private final ImapProcessor commands;
  private final Scheduler workers;

  WorkerProcessor(ImapProcessor commands, Workers workers) {
    this.commands = commands;
    this.workers = Schedulers.fromExecutor(workers);
  }

  @Override
  public void configure(ImapConfiguration configuration) {
    commands.configure(configuration);
  }

  @Override
  public Mono<Void> processReactive(ImapMessage message, Responder responder, ImapSession session) {
    ImapFlow flow = (ImapFlow) session.getAttribute(ImapFlow.ATTRIBUTE);
    flow.asked();
    return Mono.<Void>from(subscriber -> process(message, flow, session, responder, subscriber))
        .subscribeOn(workers)
        .onErrorResume(
            failure -> {
              // James would leave a queued command without an answer.
              log.error("A command of {} failed: {}", flow.address(), message, failure);
              flow.bye("The command failed, nothing more is known");
              return Mono.empty();
            })
        .doFinally(end -> flow.answered());
  }

  /** James checks the password of LOGIN while it subscribes, so the address is known then. */
  private void process(
      ImapMessage message,
      ImapFlow flow,
      ImapSession session,
      Responder responder,
      Subscriber<? super Void> subscriber) {
    try {
      ClientAddress.during(
          flow.address(),
          () -> {
            commands.processReactive(message, flow.paced(responder), session).subscribe(subscriber);
            return null;
          });
    } catch (Exception e) {
      Mono.<Void>error(e).subscribe(subscriber);
    }
  }
}
