// SPDX-License-Identifier: Apache-2.0
/** The statements of Isolde, and the way that every other statement takes. */
package io.isolde.cql;
