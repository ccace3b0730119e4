"""Fit the Lotka-Volterra equations to noisy counts of predators and prey.

Each step of the optimiser solves the equations, and their adjoint for the gradient of the misfit.
At the minimum the Hessian says how well the counts determine each rate.
"""

import numpy as np

import gradfn as torch
from gradfn.scipy import hessian_operator, minimize, odeint

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


def change(t, animals, rates):
    prey, predators = animals.unbind()
    meetings = prey * predators
    return torch.stack(
        [
            rates["birth"] * prey - rates["hunting"] * meetings,
            rates["growth"] * meetings - rates["death"] * predators,
        ]
    )


def counts(logarithms):
    rates = {name: logarithm.exp() for name, logarithm in logarithms.items()}
    return odeint(change, start, years, rates, method="DOP853", rtol=1e-6)


start = torch.tensor([30.0, 4.0])
years = torch.linspace(0, 10, 11)
true = {"birth": 0.55, "hunting": 0.028, "growth": 0.024, "death": 0.80}
noise = 0.1
seen = counts({name: torch.tensor(rate).log() for name, rate in true.items()}).log()
seen += noise * torch.randn(seen.shape)


def misfit(logarithms):
    return ((counts(logarithms).log() - seen) / noise).square().sum() / 2


guess = {name: torch.tensor(rate * 1.25).log() for name, rate in true.items()}
bounds = {name: (logarithm - 0.5, logarithm + 0.5) for name, logarithm in guess.items()}
fit = minimize(misfit, guess, method="L-BFGS-B", bounds=bounds)
covariance = np.linalg.inv(hessian_operator(misfit, fit.x) @ np.eye(len(true)))

print(f"misfit {misfit(guess):.1f} -> {fit.fun:.1f} in {fit.nit} steps")
for (name, logarithm), error in zip(fit.x.items(), np.sqrt(np.diag(covariance)), strict=True):
    print(f"{name:8s} {logarithm.exp():.4f} ± {error * logarithm.exp():.4f} (true: {true[name]})")
