// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.uuid.Uuids;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.james.mailbox.model.MessageId;
import org.junit.jupiter.api.RepeatedTest;

/** Ids of several servers. */
class UuidMessageIdTest {
  private static final int THREADS = 8;

  @RepeatedTest(5)
  void whenTwoServersMakeTheirFirstIdsByManyThreadsThenNoIdIsOfBoth() throws Exception {
    Set<Long> ofOne = processBits();
    Set<Long> ofTwo = processBits();

    assertThat(ofOne).hasSize(1).doesNotContain(0L);
    assertThat(ofTwo).hasSize(1).doesNotContain(0L).doesNotContainAnyElementsOf(ofOne);
  }

  /** Each class loader has the driver and the ids as a process of its own would have them. */
  private static Set<Long> processBits() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (URLClassLoader server = server()) {
      Class<?> factory = server.loadClass(UuidMessageId.Factory.class.getName());
      CyclicBarrier start = new CyclicBarrier(THREADS);
      List<Future<UUID>> ids = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        ids.add(
            threads.submit(
                () -> {
                  start.await();
                  return id(factory.getConstructor().newInstance());
                }));
      }
      Set<UUID> made = new HashSet<>();
      for (Future<UUID> id : ids) {
        made.add(id.get());
      }
      assertThat(made).hasSize(THREADS).allMatch(id -> id.version() == 1 && id.variant() == 2);
      return made.stream().map(UUID::getLeastSignificantBits).collect(toSet());
    } finally {
      threads.shutdownNow();
    }
  }

  private static UUID id(Object factory) {
    return UUID.fromString(((MessageId.Factory) factory).generate().serialize());
  }

  /** James' interfaces are those of this test. */
  private static URLClassLoader server() throws IOException {
    URL[] urls =
        Stream.of(UuidMessageId.class, Uuids.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation())
            .toArray(URL[]::new);
    return new URLClassLoader(urls, UuidMessageIdTest.class.getClassLoader()) {
      @Override
      protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean isOwn =
            name.startsWith(UuidMessageId.class.getName())
                || name.startsWith(Uuids.class.getName());
        synchronized (getClassLoadingLock(name)) {
          Class<?> loaded = findLoadedClass(name);
          return loaded != null ? loaded : isOwn ? findClass(name) : super.loadClass(name, resolve);
        }
      }
    };
  }
}
