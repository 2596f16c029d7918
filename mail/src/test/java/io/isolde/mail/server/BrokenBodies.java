// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.model.Content;
import org.apache.james.mailbox.model.MessageResult;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Mailboxes whose messages can't be read, or not to their ends, as if the cluster went away. */
final class BrokenBodies {
  private final UnaryOperator<MessageResult> messages;
  private final UnaryOperator<InputStream> streams;

  private BrokenBodies(UnaryOperator<MessageResult> messages, UnaryOperator<InputStream> streams) {
    this.messages = messages;
    this.streams = streams;
  }

  /** No message can be read. */
  static MailboxManager unread(MailboxManager mailboxes) {
    return new BrokenBodies(BrokenBodies::fail, UnaryOperator.identity()).of(mailboxes);
  }

  /** Sizes can be read, and nothing of the content. */
  static MailboxManager unopened(MailboxManager mailboxes) {
    return new BrokenBodies(UnaryOperator.identity(), BrokenBodies::fail).of(mailboxes);
  }

  /** Half of each content can be read. */
  static MailboxManager half(MailboxManager mailboxes) {
    return new BrokenBodies(UnaryOperator.identity(), BrokenBodies::brokenStream).of(mailboxes);
  }

  private static <T> T fail(T answer) {
    throw new IllegalStateException("The cluster is away");
  }

  private MailboxManager of(MailboxManager mailboxes) {
    return answering(MailboxManager.class, mailboxes);
  }

  private Object broken(Object answer) {
    if (answer instanceof MessageManager mailbox) {
      return answering(MessageManager.class, mailbox);
    }
    if (answer instanceof MessageResult message) {
      return answering(MessageResult.class, messages.apply(message));
    }
    if (answer instanceof Content content) {
      return answering(Content.class, content);
    }
    if (answer instanceof InputStream in) {
      return streams.apply(in);
    }
    if (answer instanceof Mono<?> mono) {
      return mono.map(this::broken);
    }
    return answer instanceof Publisher<?> publisher
        ? Flux.from(publisher).map(this::broken)
        : answer;
  }

  private static InputStream brokenStream(InputStream in) {
    try {
      byte[] all = in.readAllBytes();
      return new SequenceInputStream(
          new ByteArrayInputStream(Arrays.copyOf(all, all.length / 2)),
          new InputStream() {
            @Override
            public int read() throws IOException {
              throw new IOException("The rest is away");
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
              return read();
            }
          });
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private <T> T answering(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return broken(method.invoke(real, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
