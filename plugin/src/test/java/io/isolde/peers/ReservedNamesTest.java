// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a node promises about names that are about to be in the schema. */
class ReservedNamesTest {
  private static final UUID ONE = new UUID(0, 1);
  private static final UUID OTHER = new UUID(0, 2);
  private static final long END = ReservedNames.MAX_MILLIS;
  private static final int NODES = 5;
  private static final int MAKERS = 3;

  private final ReservedNames names = new ReservedNames();

  static IntStream seeds() {
    return IntStream.range(0, 200);
  }

  @Test
  void whenANameIsPromisedThenOthersWaitUntilThePromiseEnds() {
    assertThat(names.reserve("k", ONE, false, 0)).isTrue();
    assertThat(names.reserve("k", ONE, false, 1)).as("asked again").isTrue();
    assertThat(names.isReserved("k", END)).isTrue();
    assertThat(names.reserve("k", OTHER, false, END)).isFalse();
    assertThat(names.reserve("l", OTHER, false, 2)).isTrue();
    assertThat(names.isReserved("k", END + 1)).isFalse();
    assertThat(names.reserve("k", OTHER, false, END + 1)).isTrue();
    assertThat(names.reserve("k", ONE, false, END + 2)).isFalse();
  }

  @Test
  void whenTheMakerGivesUpOrHasMadeItThenTheNameIsFree() {
    assertThat(names.reserve("k", ONE, false, 0)).isTrue();
    names.release("k", OTHER);
    assertThat(names.reserve("k", OTHER, false, 1)).as("not the other's to give up").isFalse();
    names.release("k", ONE);
    assertThat(names.reserve("k", OTHER, false, 2)).isTrue();
    names.made("k");
    assertThat(names.reserve("k", ONE, false, 3)).isTrue();
  }

  @Test
  void whenTheMakerHasMoreToDoThenTheNameIsFreeWhenThatIsDone() {
    assertThat(names.reserve("k", ONE, true, 0)).isTrue();
    names.made("k");
    assertThat(names.isReserved("k", 1)).isTrue();
    names.release("k", ONE);
    assertThat(names.isReserved("k", 2)).isFalse();
  }

  @Test
  void whenThereAreTooManyThenFurtherOnesAreRefusedUntilSomeEnd() {
    for (int i = 0; i < ReservedNames.MAX_NAMES; i++) {
      assertThat(names.reserve("k" + i, ONE, false, 0)).isTrue();
    }
    assertThat(names.reserve("further", ONE, false, 1)).isFalse();
    assertThat(names.reserve("k0", ONE, false, 1)).isTrue();
    assertThat(names.reserve("further", ONE, false, END)).isTrue();
  }

  /** A node: what it has promised, and whether its schema has the name. */
  private static final class Node {
    private final ReservedNames names = new ReservedNames();
    private boolean hasName;

    boolean isPromised(UUID maker) {
      return !hasName && names.reserve("k", maker, false, 0);
    }
  }

  /** Somebody who wants to make the name, with a new id for each attempt. */
  private static final class Maker {
    private UUID attempt;
    private final List<Integer> toAsk = new ArrayList<>();
    private int promises;
    private boolean isThereSomewhere;

    void begin(Random random) {
      attempt = new UUID(random.nextLong(), random.nextLong());
      promises = 0;
      isThereSomewhere = false;
      toAsk.clear();
      IntStream.range(0, NODES).forEach(toAsk::add);
    }

    void ask(List<Node> nodes, Random random) {
      Node node = nodes.get(toAsk.remove(random.nextInt(toAsk.size())));
      isThereSomewhere |= node.hasName;
      promises += node.isPromised(attempt) ? 1 : 0;
    }

    boolean mayMake() {
      return toAsk.isEmpty() && promises > NODES / 2 && !isThereSomewhere;
    }
  }

  /** A release that is on its way. */
  private record Release(int node, UUID attempt) {}

  /** Makers ask in any order. Releases and the news of what was made arrive late. */
  @ParameterizedTest
  @MethodSource("seeds")
  void whenManyMakeTheSameNameThenOneDoes(int seed) {
    Random random = new Random(seed);
    List<Node> nodes = IntStream.range(0, NODES).mapToObj(i -> new Node()).toList();
    List<Maker> makers = IntStream.range(0, MAKERS).mapToObj(i -> new Maker()).toList();
    makers.forEach(maker -> maker.begin(random));
    List<Release> late = new ArrayList<>();
    Set<Integer> toHear = new TreeSet<>();
    int made = 0;
    for (int step = 0; step < 2_000; step++) {
      int chosen = random.nextInt(MAKERS);
      Maker maker = makers.get(chosen);
      if (!maker.toAsk.isEmpty()) {
        maker.ask(nodes, random);
      } else if (maker.mayMake()) {
        made++;
        nodes.get(chosen).hasName = true; // Each maker is a node, too.
        IntStream.range(0, NODES).forEach(toHear::add);
        maker.begin(random);
      } else if (!nodes.get(chosen).hasName) {
        for (int node = 0; node < NODES; node++) {
          late.add(new Release(node, maker.attempt));
        }
        maker.begin(random);
      }
      while (late.size() > random.nextInt(10)) {
        Release release = late.remove(random.nextInt(late.size()));
        nodes.get(release.node).names.release("k", release.attempt);
      }
      if (!toHear.isEmpty() && random.nextInt(20) == 0) {
        Node node = nodes.get(toHear.iterator().next());
        toHear.remove(nodes.indexOf(node));
        node.hasName = true;
        node.names.made("k");
      }
    }
    assertThat(made).as("seed %s", seed).isEqualTo(1);
  }
}
