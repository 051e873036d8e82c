"""An elastic sphere between two rigid planes without friction, without a mesh: what rubato's contact is judged by.

Hertz (1882) has the sphere infinite beside the contact, a << R:

    F = 4/3 E* sqrt(R) delta^(3/2),   a = sqrt(R delta),   p(r) = p0 sqrt(1 - r^2/a^2),   p0 = 2 E* a / (pi R),

E* = E / (1 - nu^2). `sphere` solves the whole sphere in linear elasticity instead: modes of Legendre's polynomials
(Lur'e 1964), a pressure of Hertz's form times a polynomial, and the condition of contact at points of the
contact. Both poles are pressed, so the plane through the equator does not bend: each half is a half-ball that rests
on a plane and is pressed by another one. `layer` is what a barrier of finite thickness changes.

Lengths in R, pressures in E.
"""

import math


def modulus(nu):
    """E*/E"""
    return 1 / (1 - nu * nu)


def hertz_force(delta, nu):
    return 4 / 3 * modulus(nu) * delta**1.5


def hertz_of_force(force, nu):
    """Radius and peak of the pressure."""
    a = (3 * force / (4 * modulus(nu))) ** (1 / 3)
    return a, 2 * modulus(nu) * a / math.pi


# ---- The barrier's layer


def barrier_force(s):
    """-b'(d) of b = -dhat (s - 1)^2 ln s, s = d / dhat"""
    return -(2 * (1 - s) * math.log(s) - (1 - s) ** 2 / s) if s < 1 else 0.0


def gap_of_pressure(pressure, share):
    """d / dhat at which a barrier of `share` times Young's modulus pushes with this pressure (in E)."""
    low, high = 1e-12, 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if share * barrier_force(middle) > pressure:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def layer(peak, share, points=400):
    """Where the effective plane is, in dhat: the mean of d(p0 s) over s in [0, 1].

    In contact the surface is not at the plane, but d(p) above it. To first order a change g(r) of the gap changes the
    force by -int g q dA, q the pressure of a flat punch of the contact's radius moved by 1, E* / (pi sqrt(a^2 - r^2)):
    Betti's reciprocity, and the edge does not matter, where p is 0. A change that is the same everywhere, g, is a
    change of delta by -g, and -int q dA g = -2 E* a g. So g(r) = d(p0 sqrt(1 - r^2/a^2)) counts as its mean with the
    weight q, which in terms of s = sqrt(1 - r^2/a^2) is 1.
    """
    return sum(gap_of_pressure(peak * (k + 0.5) / points, share) for k in range(points)) / points


# ---- The whole sphere


def gauss_legendre(count):
    """Points and weights on [0, 1]."""
    result = []
    for i in range(count):
        x = math.cos(math.pi * (i + 0.75) / (count + 0.5))
        for _ in range(100):
            p0, p1 = 1.0, x
            for n in range(2, count + 1):
                p0, p1 = p1, ((2 * n - 1) * x * p1 - (n - 1) * p0) / n
            slope = count * (x * p1 - p0) / (x * x - 1)
            step = p1 / slope
            x -= step
            if abs(step) < 1e-15:
                break
        result.append(((1 - x) / 2, 1 / ((1 - x * x) * slope * slope)))
    return result


class Legendre:
    """P_n(cos t) and its derivative by t at fixed angles, n = 0, 1, 2, …"""

    def __init__(self, angles):
        self.cos, self.sin = [math.cos(t) for t in angles], [math.sin(t) for t in angles]
        self.before, self.now, self.n = [0.0] * len(angles), [1.0] * len(angles), 0

    def slopes(self):
        n = self.n
        return [n * (c * p - q) / s for c, s, p, q in zip(self.cos, self.sin, self.now, self.before)]

    def advance(self):
        n = self.n + 1
        self.before, self.now = self.now, [((2 * n - 1) * c * p - (n - 1) * q) / n
                                           for c, p, q in zip(self.cos, self.now, self.before)]
        self.n = n


def mode(n, nu, normal, tangent):
    """Displacements (u_r, u_t) of the surface of a unit sphere by tractions normal P_n and tangent dP_n/dt [E].

    Inside, with 2 mu = E / (1 + nu):
        u_r = [A (n+1) (n-2+4nu) r^(n+1) + B n r^(n-1)] P_n
        u_t = [A (n+5-4nu) r^(n+1) + B r^(n-1)] dP_n/dt
        s_r / 2mu = [A (n+1) (n^2-n-2-2nu) r^n + B n (n-1) r^(n-2)] P_n
        s_rt / 2mu = [A (n^2+2n-1+2nu) r^n + B (n-1) r^(n-2)] dP_n/dt
    """
    normal, tangent = normal * (1 + nu), tangent * (1 + nu)
    if n == 0:
        return normal * (1 - 2 * nu) / (1 + nu), 0.0
    a, b = (n + 1) * (n * n - n - 2 - 2 * nu), n * (n - 1)
    c, d = n * n + 2 * n - 1 + 2 * nu, n - 1
    det = a * d - b * c
    A, B = (normal * d - tangent * b) / det, (a * tangent - c * normal) / det
    return A * (n + 1) * (n - 2 + 4 * nu) + B * n, A * (n + 5 - 4 * nu) + B


def least_squares(rows, values):
    """By Gram and Schmidt; few columns."""
    count = len(rows[0])
    columns = [[row[j] for row in rows] for j in range(count)]
    q, r = [], [[0.0] * count for _ in range(count)]
    for j in range(count):
        v = columns[j][:]
        for _ in range(2):
            for i, done in enumerate(q):
                part = sum(x * y for x, y in zip(done, v))
                r[i][j] += part
                v = [x - part * y for x, y in zip(v, done)]
        r[j][j] = math.sqrt(sum(x * x for x in v))
        q.append([x / r[j][j] for x in v])
    solution = [0.0] * count
    for j in reversed(range(count)):
        rest = sum(x * y for x, y in zip(q[j], values)) - sum(r[j][k] * solution[k] for k in range(j + 1, count))
        solution[j] = rest / r[j][j]
    return solution


def sphere(angle, nu, terms=4, points=120, reach=200):
    """Contact up to this angle from the pole: approach of a plane to the centre, force, radius, peak pressure."""
    quadrature = [(angle * math.sin(0.5 * math.pi * x), 0.5 * math.pi * angle * math.cos(0.5 * math.pi * x) * w)
                  for x, w in gauss_legendre(points)]
    places = [angle * (k + 0.5) / 16 for k in range(16)]
    shapes = [[(1 - (t / angle) ** 2) ** (j + 0.5) for t, _ in quadrature] for j in range(terms)]
    at, there = Legendre([t for t, _ in quadrature]), Legendre(places)
    weights = [w * s for (_, w), s in zip(quadrature, at.sin)]
    raised = [[0.0] * len(places) for _ in range(terms)]  # towards the centre, by each shape
    for n in range(int(reach / angle) // 2 * 2 + 1):
        if n % 2 == 0:  # both poles are pressed: even modes, twice
            slopes, other = (at.slopes(), there.slopes()) if n else ([0.0] * points, [0.0] * len(places))
            for j in range(terms):
                normal = -(2 * n + 1) * sum(w * p * c * v for w, p, c, v in zip(weights, shapes[j], at.cos, at.now))
                tangent = (2 * n + 1) / (n * (n + 1)) * sum(
                    w * p * s * v for w, p, s, v in zip(weights, shapes[j], at.sin, slopes)) if n else 0.0
                out, along = mode(n, nu, normal, tangent)
                for i, (c, s) in enumerate(zip(there.cos, there.sin)):
                    raised[j][i] -= out * there.now[i] * c - along * other[i] * s
        at.advance()
        there.advance()
    # raised + (1 - cos t) = delta where the surface is flat
    rows = [[raised[j][i] for j in range(terms)] + [-1.0] for i in range(len(places))]
    found = least_squares(rows, [-(1 - c) for c in there.cos])
    pressures = [sum(found[j] * shapes[j][i] for j in range(terms)) for i in range(points)]
    force = 2 * math.pi * sum(w * p for w, p in zip(weights, pressures))
    return {"delta": found[terms], "force": force, "radius": math.sin(angle), "peak": sum(found[:terms])}


def sphere_table(nu, angles):
    return [sphere(angle, nu) for angle in angles]


def interpolate(table, key, value, wanted):
    """In powers, between the two nearest rows."""
    rows = sorted(table, key=lambda row: row[key])
    i = max(0, min(len(rows) - 2, sum(row[key] < value for row in rows) - 1))
    low, high = rows[i], rows[i + 1]
    t = math.log(value / low[key]) / math.log(high[key] / low[key])
    return low[wanted] * (high[wanted] / low[wanted]) ** t


if __name__ == "__main__":
    for angle in (0.05, 0.1, 0.2, 0.3):
        row = sphere(angle, 0.3)
        a, p0 = hertz_of_force(row["force"], 0.3)
        print(angle, row, row["force"] / hertz_force(row["delta"], 0.3), row["radius"] / a, row["peak"] / p0)
