// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.apache.james.events.Event;
import org.apache.james.events.EventListener.ReactiveEventListener;
import org.apache.james.imap.api.process.SelectedMailbox;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * News for who idles. James looks for changed flags before it has noted the event, and forgets them
 * afterwards; so a client that idles would never hear of them. Here it looks afterwards.
 */
final class IdleNews {
  private IdleNews() {}

  static SelectedMailbox of(SelectedMailbox mailbox) {
    return (SelectedMailbox)
        Proxy.newProxyInstance(
            SelectedMailbox.class.getClassLoader(),
            new Class<?>[] {SelectedMailbox.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("registerIdle")) {
                arguments[0] = new Afterwards((ReactiveEventListener) arguments[0]);
              }
              try {
                return method.invoke(mailbox, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private record Afterwards(ReactiveEventListener listener) implements ReactiveEventListener {
    @Override
    public Publisher<Void> reactiveEvent(Event event) {
      return Mono.defer(() -> Mono.from(listener.reactiveEvent(event)));
    }

    @Override
    public boolean isHandling(Event event) {
      return listener.isHandling(event);
    }

    @Override
    public ExecutionMode getExecutionMode() {
      return listener.getExecutionMode();
    }
  }
}
