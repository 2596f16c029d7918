// SPDX-License-Identifier: Apache-2.0
package io.isolde.junit;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.client.Isolde;
import io.isolde.cluster.LocalNode;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * What {@link IsoldeTest} does. Nested classes use what their outermost class has.
 *
 * <p>Registered without the annotation ({@code @ExtendWith(IsoldeExtension.class)}), it does what
 * the annotation does without attributes.
 */
public final class IsoldeExtension implements BeforeAllCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(IsoldeExtension.class);
  private static final Set<Class<?>> TYPES =
      Set.of(CqlSession.class, Isolde.class, LocalNode.class);

  /**
   * The node of this process. In no store of JUnit: a runner with several processes, as Maven with
   * {@code forkCount}, gives each of them one class at a time, and ends all stores after it.
   */
  private static final class Shared {
    static final TestNode NODE = TestNode.startShared();

    static {
      Runtime.getRuntime().addShutdownHook(new Thread(NODE::close, "isolde-junit-end"));
    }
  }

  /** Closed before the node that it belongs to. */
  @SuppressWarnings("deprecation") // AutoCloseable would need JUnit 5.13
  private record Connected(TestNode node, CqlSession session) implements Store.CloseableResource {
    @Override
    public void close() {
      session.close();
    }
  }

  /** Starts the node here, so that its time and its failure are the class's, not a test's. */
  @Override
  public void beforeAll(ExtensionContext context) {
    var unused = connected(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return TYPES.contains(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Connected connected = connected(context);
    Class<?> type = parameter.getParameter().getType();
    if (type == CqlSession.class) {
      return connected.session;
    }
    return type == Isolde.class ? Isolde.on(connected.session) : connected.node.process();
  }

  private static Connected connected(ExtensionContext context) {
    ExtensionContext outermost = outermostClass(context);
    TestNode node = node(outermost); // first, since what is stored first is closed last
    return outermost
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(
            Connected.class, type -> new Connected(node, node.connect()), Connected.class);
  }

  /** The class's own one ends with the class. */
  private static TestNode node(ExtensionContext outermost) {
    Optional<IsoldeTest> wish =
        AnnotationSupport.findAnnotation(outermost.getRequiredTestClass(), IsoldeTest.class);
    List<String> settings = wish.map(found -> List.of(found.settings())).orElse(List.of());
    boolean isShared =
        wish.map(IsoldeTest::node).orElse(IsoldeTest.Sharing.PROCESS) == IsoldeTest.Sharing.PROCESS;
    if (isShared && !settings.isEmpty()) {
      throw new IllegalArgumentException(
          "The settings %s are for one class, so say @IsoldeTest(node = CLASS, settings = …)."
              .formatted(settings));
    }
    return isShared
        ? Shared.NODE
        : outermost
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(TestNode.class, type -> TestNode.start(settings), TestNode.class);
  }

  private static ExtensionContext outermostClass(ExtensionContext context) {
    ExtensionContext outermost = context;
    while (outermost.getParent().flatMap(ExtensionContext::getTestClass).isPresent()) {
      outermost = outermost.getParent().orElseThrow();
    }
    return outermost;
  }
}
